"""What stored runs tell of trainings to come."""

from dataclasses import replace

import pytest
from support.stored_rows import final_row, repeat_row, run_row

from clar_tune.analysis.past_trainings import RUNS, paces
from clar_tune.records import Pace, to_stored
from clar_tune.rows import PlannedStudy
from clar_tune.store import Store

HERE = {"host": "here"}
STUDY = PlannedStudy(
    graph="texas",
    method="gcn",
    condition="",
    protocol="balanced-60-20-20",
    metric="accuracy",
    trials=4,
    repeats=3,
    finals=3,
    rungs=(),
    parameters={"hidden": {"value": 32}, "lr": {"low": 0.001, "high": 0.1}},
)
PLACE = STUDY.place


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path)


def stored(store, name, *, studies=(STUDY,), machine=HERE, rows=None, **given):
    """A run whose trainings took a second for ten epochs, unless something else is said."""
    columns = {"graph": "texas", "method": "gcn", "condition": "", "threads": 1, "device": "cpu"}
    columns |= {"seconds": 1.0, "epochs": 10, "best_epoch": 6, **given}
    planned = [to_stored(study) for study in studies]
    writer = store.create(name, run_row(study_plans=planned, machine=machine))
    writer.append(rows or [repeat_row(0, **columns), repeat_row(1, **columns)])
    writer.close(state="finished")


def told(store, study=STUDY, *, threads=1, gpu=False):
    return paces(store, [study], HERE, threads=threads, gpu=gpu).get(study.place)


def test_a_store_without_runs_tells_nothing(store):
    assert told(store) is None


def test_a_run_tells_the_time_of_an_epoch_and_which_one_is_selected(store):
    stored(store, "a")
    assert told(store) == Pace(runs=1, trainings=2, selected=6.0, seconds_per_epoch=0.1)


def test_all_trainings_of_several_runs_count(store):
    stored(store, "a")
    stored(store, "b", seconds=3.0, best_epoch=8)
    assert told(store) == Pace(runs=2, trainings=4, selected=7.0, seconds_per_epoch=0.2)


def test_finals_tell_where_repeats_were_left_out(store):
    final = final_row(
        0,
        graph="texas",
        method="gcn",
        condition="",
        threads=1,
        device="cpu",
        seconds=2.0,
        epochs=10,
        best_epoch=6,
    )
    stored(store, "a", rows=[final])
    assert told(store).seconds_per_epoch == 0.2


def test_no_more_than_some_runs_are_looked_at(store):
    for number in range(RUNS + 2):
        stored(store, f"a{number}")
    assert told(store).runs == RUNS


@pytest.mark.parametrize(
    "other",
    [{"graph": "cora"}, {"method": "sage"}, {"condition": "layers=8"}, {"threads": 2}]
    + [{"device": "cuda"}],
)
def test_other_trainings_tell_nothing(store, other):
    stored(store, "a", **other)
    assert told(store) is None


def test_trainings_on_gpus_tell_of_gpus(store):
    stored(store, "a", device="cuda")
    assert told(store, gpu=True).trainings == 2


def test_networks_of_another_width_tell_nothing_and_other_ranges_do_not_matter(store):
    wide = replace(STUDY, parameters={**STUDY.parameters, "hidden": {"value": 512}})
    stored(store, "a", studies=[wide])
    assert told(store) is None
    slow = replace(STUDY, parameters={**STUDY.parameters, "lr": {"value": 0.5}})
    stored(store, "b", studies=[slow])
    assert told(store).runs == 1


def test_runs_of_this_machine_count_alone_where_there_are_some(store):
    stored(store, "a", machine={"host": "other"}, seconds=5.0)
    assert told(store).seconds_per_epoch == 0.5
    stored(store, "b")
    stored(store, "c", machine={"host": "other"}, seconds=5.0)
    assert told(store) == Pace(runs=1, trainings=2, selected=6.0, seconds_per_epoch=0.1)
