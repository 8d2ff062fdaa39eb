"""Manifests of older versions say what today's say."""

from dataclasses import replace

import pytest
from support.results import SPACE, plausible, simulated
from support.simulation import Memory, plan_from
from support.sweep_runs import SPACES

from clar_tune.analysis.manifest_upgrade import upgraded, why_ranges_are_unknown
from clar_tune.rows import PlannedStudy, RunRow
from clar_tune.search.manifest import manifest_of


def older(row: RunRow) -> RunRow:
    """As it was written before studies and graphs stood in it."""
    return replace(row, study_plans=[], graph_facts={})


def run_of(text: str, **options) -> tuple[RunRow, Memory]:
    given = {"trials": 3, "repeats": 3, "finals": 2, "sampler": "random", **options}
    given |= {"ablation": False, "engine": "torch"}  # nobody knew others then
    return simulated(text, plausible, **given)


def searched_whole(study: PlannedStudy) -> PlannedStudy:
    """As it was when what is idle was searched too, and began with the same on every graph."""
    own = {name: dict(content) for name, content in (study.parameters or {}).items()}
    for content in own.values():
        content.pop("idle", None)
    return replace(study, parameters=own, known=None)


@pytest.mark.parametrize("space", ["heterophily", "depth", "robustness", "sampling", None])
def test_an_older_manifest_tells_what_todays_tells(space):
    text = (SPACES / f"{space}.yaml").read_text(encoding="utf-8") if space else SPACE
    options = {"conditions": ("samples=1", "alpha=0", "beta=1")} if space == "sampling" else {}
    row, memory = run_of(text, **options)
    found = upgraded(older(row), list(memory.trials.values()))
    assert found.graphs == row.graphs
    assert {study.place: study for study in found.planned} == {
        study.place: searched_whole(study) for study in row.planned
    }


def test_a_manifest_of_today_stays_as_it_is():
    row = manifest_of(plan_from(), {})
    assert upgraded(row, []) is row


def test_studies_that_have_not_begun_are_planned_all_the_same():
    row, _ = run_of(SPACE)
    found = upgraded(older(row), [])
    wanted = {study.place: study for study in row.planned}
    for study in found.planned:
        assert replace(study, parameters=None) == replace(wanted[study.place], parameters=None)


def test_a_text_that_cannot_be_read_leaves_ranges_unknown_and_says_why():
    row, memory = run_of(SPACE)
    text = row.space_text.replace("high: 0.1,", "hihg: 0.1,")
    found = upgraded(older(replace(row, space_text=text)), list(memory.trials.values()))
    assert all(study.parameters is None for study in found.planned)
    assert "hihg" in why_ranges_are_unknown(found)
    assert why_ranges_are_unknown(row) == ""


def test_a_graph_that_is_not_listed_here_counts_as_itself():
    row, memory = run_of(SPACE, graphs=("texas",))
    trials = [replace(trial, graph="mine") for trial in memory.trials.values()]
    studies = [("mine", condition, method) for _, condition, method in row.studies]
    found = upgraded(replace(older(row), studies=studies), trials)
    assert found.graphs["mine"].counts_as == "mine"
    assert found.graphs["mine"].notes == () and not found.graphs["mine"].generated
