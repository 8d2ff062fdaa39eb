"""Whole runs on variants of a graph."""

import json

from support.one_ray import SharedPlace
from support.varied_spaces import DROPPED, FILTERED


def test_a_run_on_dropped_edges_is_extended_and_trained_again(tmp_path, shared_ray):
    place = SharedPlace(tmp_path / "dropped", shared_ray, DROPPED)
    words = ("--name", "one", "--seed", "5", "--methods", "gcn", "--finals", "1")
    done = place.search(*words)
    assert done.code == 0, done.err
    before = place.trainings("one")
    conditions = ["drop_edges=0", "drop_edges=0.4", "drop_edges=0.8"]
    assert sorted(row["condition"] for row in before.values()) == conditions
    done = place.run("extend", "one", "--finals", "+1")
    assert done.code == 0, done.err
    after = place.trainings("one")
    assert before.keys() < after.keys() and len(after) == 2 * len(before)
    again = place.run_alone("repro", place.finals("one")[-1]["key"])
    assert again.code == 0, again.err
    assert again.out.count("equal") == 5


def test_a_run_that_learns_filters_is_judged_by_its_error(tmp_path, shared_ray):
    place = SharedPlace(tmp_path / "filtered", shared_ray, FILTERED)
    done = place.search("--name", "one", "--json")
    assert done.code == 0, done.err
    finals = place.finals("one")
    assert len([row for row in finals if row["arm"] == "on"]) == 2 * 2 * 2
    for row in finals:
        assert (row["metric"], row["protocol"]) == ("mse", "whole-graph")
        assert row["val_score"] == row["test_score"] > 0
        assert row["train_nodes"] == row["val_nodes"] == row["test_nodes"] == 600
    low, high = (
        sum(row["test_score"] for row in finals if row["condition"] == f"filter={name}")
        for name in ("low-pass", "high-pass")
    )
    assert low < high  # a gcn is a low-pass filter itself
    assert json.loads(done.out)["state"] == "finished"
    again = place.run_alone("repro", finals[-1]["key"])
    assert again.code == 0, again.err
    assert again.out.count("equal") == 5
