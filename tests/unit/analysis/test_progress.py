"""How far a run is: the driver and a reader of the store say the same."""

from dataclasses import replace

import pytest
from support.results import SPACE, plausible, view
from support.simulation import Memory, plan_from, scheduler_for, work

from clar_tune.analysis.progress import (
    PRUNED_SHARE,
    Progress,
    finals_left,
    repeats_left,
    stored_progress,
)
from clar_tune.cli.live import progress_of
from clar_tune.records import StudyProgress
from clar_tune.search.manifest import manifest_of


def by_name(study: StudyProgress) -> tuple[str, ...]:
    return study.graph, study.method, str(study)


@pytest.mark.parametrize("events", [0, 1, 7, 40, 150, 400, None])
@pytest.mark.parametrize("searches", [1, 2])
def test_a_driver_and_a_reader_of_its_rows_tell_the_same(events, searches):
    plan = plan_from(SPACE, graphs=("texas", "cornell"), trials=4, repeats=3, replicates=searches)
    memory = Memory()
    scheduler = scheduler_for(plan, memory, workers=3)
    work(scheduler, plausible, events=events)
    row = replace(manifest_of(plan, {}), workers=3)
    told, read = progress_of(scheduler), stored_progress(view(row, memory))
    assert sorted(told.studies, key=by_name) == sorted(read.studies, key=by_name)
    assert told.seconds_left == pytest.approx(read.seconds_left)
    assert (told.trainings, told.confirmed) == (read.trainings, read.confirmed)


def study(**given) -> StudyProgress:
    usual = {
        **{"graph": "texas", "method": "gcn", "condition": "", "metric": "accuracy"},
        **{"trials": 10, "complete": 0, "pruned": 0, "failed": 0, "running": 0},
        **{"repeats": 0, "repeats_of_ended": 0, "most_repeats": 9, "pruning": True},
        **{"search_seconds": 0.0, "best": None, "finals": 0, "finals_wanted": 20},
        **{"final_seconds": 0.0, "confirmed": False},
    }
    return StudyProgress(**usual | given)


def test_before_anything_ended_pruning_is_expected_to_leave_its_usual_share():
    assert repeats_left(study()) == pytest.approx(10 * 9 * PRUNED_SHARE)
    assert repeats_left(study(pruning=False)) == 10 * 9


def test_the_first_trials_to_end_are_not_taken_for_all():
    # Two that were pruned after one repeat each say little about eight others.
    left = repeats_left(study(pruned=2, repeats=2, repeats_of_ended=2))
    assert 8 * 1 < left < 8 * 9 * PRUNED_SHARE


def test_many_trials_speak_for_themselves():
    left = repeats_left(study(trials=1000, pruned=900, repeats=900, repeats_of_ended=900))
    assert left == pytest.approx(100, rel=0.02)


def test_repeats_of_trials_under_way_are_done_and_one_more_comes_of_each():
    usual = repeats_left(study(running=2))
    assert repeats_left(study(running=2, repeats=6)) == pytest.approx(usual - 6)
    ending = study(trials=2, complete=1, running=1, repeats=17, repeats_of_ended=9)
    assert repeats_left(ending) == 1


def test_what_is_not_searched_has_finals_alone():
    fixed = study(trials=1, complete=1, most_repeats=0, finals=4)
    assert (repeats_left(fixed), finals_left(fixed)) == (0, 16)


def test_each_kind_of_training_takes_as_long_as_its_like():
    searched = study(
        trials=1, complete=1, repeats=10, repeats_of_ended=10, search_seconds=20.0, finals_wanted=4
    )
    # Before a final has ended, finals count as repeats: four of 2 s.
    assert Progress((searched,), 1).seconds_left == 4 * 2
    begun = replace(searched, finals=2, final_seconds=10.0)
    assert Progress((begun,), 1).seconds_left == 2 * 5
    assert Progress((begun,), 2).seconds_left == 5


def test_a_study_that_has_not_begun_takes_as_long_as_others_on_its_graph():
    small = study(
        **{"trials": 1, "complete": 1, "repeats": 10, "repeats_of_ended": 10},
        **{"search_seconds": 10.0, "finals": 20, "final_seconds": 20.0, "confirmed": True},
    )
    large = replace(small, graph="physics", search_seconds=1000.0, final_seconds=2000.0)
    fixed = {"trials": 1, "most_repeats": 0, "finals_wanted": 3}
    waiting = study(graph="physics", method="gat", **fixed)
    assert Progress((small, large, waiting), 1).seconds_left == 3 * 100
    elsewhere = study(graph="cora", **fixed)
    assert Progress((small, large, elsewhere), 1).seconds_left == pytest.approx(3 * 2020 / 40)


def test_nothing_is_said_before_the_first_training_has_ended():
    assert Progress((study(running=2),), 2).seconds_left is None
