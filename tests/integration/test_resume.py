"""Runs that pause on a local Ray, and what ``resume`` makes of them; kills: tests/faults."""

import shlex
import time

from support.commands import Place, assert_exact

from clar_tune.api import RunOutcome
from clar_tune.cli.run import _continuation, run
from clar_tune.store import Store

TWO_GRAPHS = """\
graphs: [csbm-homophily, csbm-heterophily]
methods: ["own_models:Paced"]
protocol: balanced-60-20-20
training: {max_epochs: 3, patience: 3, warmup: 1}
search: {trials: 8, repeats: 2}
finals: 2
settings: {tuned: {shared: {lr: {low: 0.001, high: 0.3, log: true}}}}
"""
EDGES_OF_THE_SECOND = "4880"


def test_a_time_budget_pauses_with_ended_studies_confirmed(tmp_path):
    place = Place(tmp_path, TWO_GRAPHS)
    # The budget is many times what a start and the first graph take; the second graph cannot
    # end in it, as each of its eight to sixteen trainings sleeps half a minute.
    place.pace(4, edges=EDGES_OF_THE_SECOND)
    began = time.monotonic()
    done = place.search("--name", "it", "--time-budget", "90s")
    took = time.monotonic() - began
    assert done.code == 0
    assert done.err.splitlines()[-1] == "paused; go on with: clar-tune resume it"
    assert took < 90 + 32 + 60  # the repeat under way is finished; Ray comes up and goes down
    assert place.store.find("it").row.state == "paused"
    second = [row for row in place.trials("it") if row["graph"] == "csbm-heterophily"]
    assert 0 < len(second) < 8
    finals = [(row["graph"], row["repeat"]) for row in place.finals("it")]
    assert sorted(finals) == [("csbm-homophily", 0), ("csbm-homophily", 1)]
    stored = place.trainings("it")

    place.pace(None)
    resumed = place.run("resume", "it", "--quiet")
    assert (resumed.code, resumed.err) == (0, "")
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    assert_exact(place, "it", trials=8, repeats=2, finals=2)


def test_a_time_budget_shorter_than_the_start_pauses(tmp_path):
    place = Place(tmp_path)
    at = ("--store", "a store", "--data", "graphs", "--address", "local")
    done = place.search("--name", "it", "--time-budget", "1s", "--quiet", *at)
    assert (done.code, done.err) == (
        0,
        "paused; go on with: clar-tune resume it --store 'a store' --data graphs "
        "--address local\n",
    )
    place.store = Store.open(tmp_path / "a store")
    assert place.store.find("it").row.state == "paused"


def test_the_command_that_goes_on_names_the_same_server():
    at = "s3://bucket/folder?endpoint_override=http://minio:9000"
    ended = RunOutcome(name="it", store=Store.open("store"), state="paused")
    with run.make_context("run", ["--space", "quickstart", "--store", at]).scope():
        words = shlex.split(_continuation(ended))
    assert words == ["clar-tune", "resume", "it", "--store", at]
