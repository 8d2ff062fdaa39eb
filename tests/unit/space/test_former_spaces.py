"""Spaces of former versions, as manifests hold them: read and planned as they were."""

import pytest
from support.pages import ROOT

from clar_tune.analysis.manifest_upgrade import upgraded
from clar_tune.rows import PlannedStudy
from clar_tune.search.manifest import budget_of, plan_of
from clar_tune.store import Store

STORES = ("docs/results", "docs/reproducing", "tests/frozen/stores/finished")
RUNS = [(store, run.name) for store in STORES for run in Store.open(ROOT / store).runs()]


def told(study: PlannedStudy) -> tuple[object, ...]:
    """What a study gets, without what was not known then."""
    of = study
    return (of.protocol, of.metric, of.trials, of.repeats, of.finals, of.rungs, ranges(of))


def ranges(study: PlannedStudy) -> dict[str, dict[str, object]]:
    """What it chooses from, wherever that is idle."""
    given = (study.parameters or {}).items()
    return {n: {key: v for key, v in of.items() if key != "idle"} for n, of in given}


@pytest.mark.parametrize(("store", "name"), RUNS)
def test_a_stored_space_is_planned_as_it_was(store, name):
    opened = Store.open(ROOT / store)
    row, trials = opened.find(name).row, opened.trials(name)
    plan = plan_of(name, row)
    begun = {(trial.graph, trial.condition, trial.method) for trial in trials}
    planned = {study.place: told(study.planned) for study in plan.studies}
    then = {study.place: told(study) for study in upgraded(row, trials).planned}
    assert planned.keys() == then.keys()
    assert {place: planned[place] for place in begun} == {place: then[place] for place in begun}
    assert budget_of(plan) == row.budget
    kept = row.settings == "released"
    assert plan.settings.preprocessing == ("released" if kept else "undirected")
    former = "\nprotocol:" in row.space_text  # at the top, not in a block of settings
    assert (plan.settings.search.small_repeats is None) is former
