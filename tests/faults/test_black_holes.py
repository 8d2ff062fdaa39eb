"""Processes and machines that went bad fail no trials: they are replaced, or left out."""

import json
import os

import pytest
from support.commands import Place, assert_exact
from support.ray_nodes import Member, ray_cluster

from clar_tune.search import LOST_IN_A_ROW

MODEL = '''\
"""A model whose process goes bad."""

import os
import time
from pathlib import Path

import torch
from torch import nn

HERE = Path({folder!r})
TRAINED = []


def is_poisoned():
    """Everywhere if a file says so, on a machine if its environment does, else in one process."""
    if (HERE / "everywhere").exists() or "POISONED" in os.environ:
        return True
    if not TRAINED or not (HERE / "one").exists():
        return False
    try:
        (HERE / "one" / "it").symlink_to(str(os.getpid()))  # the first process to come is it
    except FileExistsError:
        pass
    return os.readlink(HERE / "one" / "it") == str(os.getpid())


def wait_for_losses():
    """Of two machines with a place each the good one waits for what the bad one loses.

    The second trial can only begin here once the first was lost there, and so on.
    """
    trained, lost = HERE / "trained", HERE / "lost"
    if lost.exists():
        begun = len(list(trained.iterdir()))
        (trained / str(begun)).touch()
        while len(list(lost.iterdir())) < min(3, begun // 3 + 1):
            time.sleep(0.05)


class Model(nn.Module):
    def __init__(self, inputs, outputs, scale: float = 1.0):
        super().__init__()
        self.linear, self.scale = nn.Linear(inputs, outputs), scale
        if is_poisoned():
            if (HERE / "lost").exists():
                (HERE / "lost" / str(os.getpid())).touch()
            raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")
        wait_for_losses()
        TRAINED.append(self)

    def forward(self, x, edge_index):
        return self.scale * self.linear(x)
'''

SPACE = """\
graphs: [csbm-homophily]
methods: ["going_bad:Model"]
protocol: balanced-60-20-20
training: {max_epochs: 3, patience: 3, warmup: 1}
search: {trials: 8, repeats: 3, pruning: false}
finals: 3
settings: {tuned: {shared: {lr: {low: 0.001, high: 0.3, log: true}}}}
"""

LINE = MODEL[: MODEL.index("raise ")].count("\n") + 1
ERROR = "CUDA error: an illegal memory access was encountered"
CAUSE = f"AcceleratorError at going_bad.py:{LINE}: {ERROR}"


def write_model(place: Place) -> None:
    (place.folder / "going_bad.py").write_text(MODEL.format(folder=str(place.folder)))


def assert_no_trial_failed(place: Place) -> None:
    assert_exact(place, "it", trials=8, repeats=3, finals=3)
    assert {row["state"] for row in place.trials("it")} == {"complete"}


def causes(place: Place) -> list[str]:
    """Why jobs were handed out again."""
    notes = [note for row in place.trials("it") for note in json.loads(row["notes"])]
    assert len(notes) == sum(row["retries"] for row in place.trials("it"))
    return [note.partition(": ")[2] for note in notes]


def test_a_poisoned_worker_among_two_is_replaced_and_fails_no_trial(tmp_path):
    place = Place(tmp_path, SPACE)
    write_model(place)
    (tmp_path / "one").mkdir()
    done = place.search("--name", "it", "--max-concurrent", "2", "--cpus-per-trial", "0.5")
    assert done.code == 0, done.err
    assert os.readlink(tmp_path / "one" / "it").isdigit()
    assert_no_trial_failed(place)
    assert causes(place) == [f"worker lost ({CAUSE})"]
    assert "left out" not in place.run("show", "it").out


def test_a_run_whose_only_machine_breaks_workers_ends_at_once_and_is_resumed(tmp_path):
    place = Place(tmp_path, SPACE)
    write_model(place)
    (tmp_path / "everywhere").touch()
    done = place.search("--name", "it", "--max-concurrent", "1")
    assert done.code == 1
    error = done.err.splitlines()[-1]
    assert error.startswith("clar-tune: every machine is left out, as workers were lost there")
    assert CAUSE in error and "clar-tune resume" in error
    begun = place.trials("it")
    assert len(begun) == 3
    assert [(row["state"], row["failure"]) for row in begun if row["failure"]] == [
        ("failed", "lost"),
        ("failed", "lost"),
    ]
    (left_out,) = place.shown("it")["left_out"]
    assert left_out["cause"] == CAUSE
    assert f"{left_out['host']} (node {left_out['node'][:8]}) is left out since" in (
        place.run("show", "it").out
    )
    (tmp_path / "everywhere").unlink()
    assert place.run("resume", "it").code == 0
    assert_exact(place, "it", trials=8, repeats=3, finals=3)
    assert [row["state"] for row in place.trials("it")] == ["failed"] * 2 + ["complete"] * 6


BROKEN = """\
import os, pathlib
pathlib.Path({lost!r}, str(os.getpid())).touch()
raise ImportError("libcudart.so is not here")
"""

BROKEN_HOSTS = {
    "device": ({"POISONED": "1"}, CAUSE),
    "import": ({"PYTHONPATH": "broken"}, "ImportError: libcudart.so is not here"),
}


@pytest.mark.parametrize("kind", BROKEN_HOSTS)
def test_a_machine_that_breaks_workers_is_left_out_named_and_fails_no_trial(tmp_path, kind):
    environment, cause = BROKEN_HOSTS[kind]
    with ray_cluster(tmp_path / "cluster") as cluster:
        place = Member(tmp_path / "place", SPACE, cluster)
        write_model(place)
        for folder in ("lost", "trained"):
            (place.folder / folder).mkdir()
        package = cluster.folder / "bad" / "broken" / "clar_tune"
        cluster.start_head("--num-cpus=0")
        cluster.start_worker("bad", environment, num_cpus=1)
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(BROKEN.format(lost=str(place.folder / "lost")))
        cluster.start_worker("good", num_cpus=1)
        done = place.search("--name", "it", "--address", cluster.address)
    assert done.code == 0, done.err
    assert_no_trial_failed(place)
    # A job that went out before another's loss was told of counts as one with it.
    assert len(causes(place)) >= LOST_IN_A_ROW
    assert set(causes(place)) == {f"worker lost ({cause})"}
    assert max(row["retries"] for row in place.trials("it")) == 1  # none came there twice
    (left_out,) = place.shown("it")["left_out"]
    assert left_out["cause"] == cause
    for told in (done.err, place.run("show", "it").out):
        assert f"{left_out['host']} (node {left_out['node'][:8]}) is left out since" in told
