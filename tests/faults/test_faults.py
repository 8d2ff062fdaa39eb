"""Lost workers and broken models on a local Ray."""

import psutil
from support.commands import PACED, Place, assert_exact

BROKEN = """\
graphs: [csbm-homophily]
methods:
  - gcn
  - own_models:Raises
  - own_models:ReturnsNan
  - own_models:WrongShape
  - own_models:NeverEnds
  - own_models:HeedsNothing
  - own_models:KillsItsProcess
protocol: balanced-60-20-20
training: {max_epochs: 3, patience: 3, warmup: 1}
search: {trials: 1, repeats: 2}
finals: 2
settings: {tuned: {shared: {lr: {low: 0.001, high: 0.3, log: true}}}}
"""

REASONS = {
    "Raises": ("error", "KeyError at own_models.py:"),
    "ReturnsNan": ("diverged", "training loss became nan in epoch 1 of own_models:ReturnsNan"),
    "WrongShape": ("error", "logits of shape (600, 4) (nodes, classes) are needed, got (599, 4)"),
    "NeverEnds": ("time", "stopped at the time limit"),
    "HeedsNothing": ("time", "stopped at the time limit"),
    "KillsItsProcess": ("lost", "worker lost 4 times, last: The actor "),
}


def test_a_run_survives_broken_models_and_names_each_with_its_reason(tmp_path):
    place = Place(tmp_path, BROKEN)
    done = place.search("--name", "it", "--trial-timeout", "10s", "--quiet")
    assert done.code == 3
    assert done.err.splitlines() == [
        f"clar-tune: csbm-homophily own_models:{name}: no winner, all 1 trials failed"
        for name in REASONS
    ]
    assert "gcn" in done.out
    assert place.store.find("it").row.state == "incomplete"
    rows = {row["method"]: row for row in place.trials("it")}
    assert rows.pop("gcn")["state"] == "complete"
    shown = place.run("show", "it").out
    for name, (kind, text) in REASONS.items():
        row = rows[f"own_models:{name}"]
        assert (row["state"], row["failure"], row["repeats"]) == ("failed", kind, 0)
        assert text in row["error"]
        assert f"own_models:{name}, trial 0: failed ({kind}): {row['error']}" in shown
        assert row["retries"] == (4 if kind == "lost" else 0)
    assert sorted(row["repeat"] for row in place.finals("it")) == [0, 1]


FREEZING = """\
import os, signal
from clar_tune.cluster import tune_hooks
from own_models import Paced

tune_hooks.SILENCE = 3.0  # the driver imports this too


class Freezes(Paced):
    def forward(self, x, edge_index):
        os.kill(os.getpid(), signal.SIGSTOP)
        return x
"""


def test_a_worker_that_is_frozen_is_ended_from_outside_at_the_time_limit(tmp_path):
    place = Place(tmp_path, PACED.replace("own_models:Paced", "freezing:Freezes"))
    (tmp_path / "freezing.py").write_text(FREEZING)
    done = place.search("--name", "it", "--trials", "1", "--trial-timeout", "5s", "--quiet")
    assert done.code == 3
    (row,) = place.trials("it")
    assert (row["state"], row["failure"], row["retries"]) == ("failed", "time", 0)


def test_a_worker_that_is_killed_costs_a_retry_and_nothing_else(tmp_path):
    place = Place(tmp_path, PACED)
    place.pace(0.2)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(lambda: len(place.repeats("it")) > 2, "three repeats")
        stored = place.trainings("it")
        at_work: list[psutil.Process] = []  # none is, for a moment, between two assignments
        going.wait_for(lambda: at_work.extend(going.workers()) or at_work, "a worker at work")
        at_work[0].kill()
        going.wait_for(lambda: sum(row["retries"] for row in place.trials("it")), "the retry")
        place.pace(0.01)
        done = going.end()
    assert done.code == 0, done.err
    assert_exact(place, "it", trials=6, repeats=3, finals=3)
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    study = place.shown("it")["studies"][0]
    assert (study["retries"], study["failed"]) == (1, 0)
    assert len(study["troubles"]) == 1
    assert "worker lost (The actor " in study["troubles"][0]["text"]
    assert study["troubles"][0]["text"] in place.run("show", "it").out
