"""Finals of arms stand beside those of the winner, and are never taken for them."""

from dataclasses import replace

import pytest
from support.simulation import Memory, plan_from, scheduler_for, work

from clar_tune.analysis.arms import plain_partners
from clar_tune.analysis.runs import StudyView, studies_of
from clar_tune.conditions import most_alike
from clar_tune.rows import FinalRow, TrialRow
from clar_tune.search.manifest import manifest_of


@pytest.fixture(scope="module")
def stored():
    """A run without arms, to which tests add rows of arms."""
    plan, memory = plan_from(ablation=False, graphs=("csbm-homophily",)), Memory()
    work(scheduler_for(plan, memory))
    return plan, memory


def view_of(stored, arms, **changed) -> StudyView:
    """The study of gcn+clar, some of whose finals are told to be of an arm."""
    plan, memory = stored
    row = manifest_of(plan, {})
    planned = [
        {**study, "arms": ["off", "cross", "nl", "any"]} if "+" in study["method"] else study
        for study in row.study_plans
    ]
    own = [final for final in memory.finals if final.method == "gcn+clar"]
    others = [replace(final, arm=arm, **change) for final in own for arm, change in arms(final)]
    row = replace(row, study_plans=planned)
    trials = [replace(trial, **changed) for trial in memory.trials.values()]
    studies = studies_of(row, trials, [*memory.finals, *others])
    return next(study for study in studies if study.method == "gcn+clar")


def shared(final: FinalRow) -> dict:
    return {name: final.params[name] for name in ("lr", "weight_decay", "hidden", "layers")}


def test_finals_are_those_of_the_winner_as_it_is(stored):
    study = view_of(stored, lambda final: [("off", {"params": shared(final)})])
    assert {final.arm for final in study.finals} == {"on"} and len(study.finals) == 3
    assert study.arm("on") == study.finals
    assert [final.repeat for final in study.arm("off")] == [0, 1, 2]
    assert study.arm("cross") == ()


def test_an_arm_is_known_by_what_it_trains(stored):
    def arms(final):
        yield "off", {"params": {**shared(final), "lr": 0.5}}  # of a former winner
        yield "nl", {"params": {**final.params, "beta": 0.0}, "trial": 99}
        yield "any", {"params": {**final.params, "sampling": "any"}}

    study = view_of(stored, arms)
    assert not study.arm("off")
    assert len(study.arm("nl")) == len(study.arm("any")) == 3


def test_a_winner_is_crossed_with_the_plain_winner_of_now(stored):
    plan, memory = stored
    (plain,) = memory.of("csbm-homophily", "gcn")

    def arms(final):
        yield "cross", {"params": {**final.params, **plain.params}}
        yield "cross", {"params": {**final.params, **plain.params, "lr": 0.5}, "repeat": 7}

    study = view_of(stored, arms)
    assert [final.repeat for final in study.arm("cross")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("params", "asked"),
    [
        ({}, ("off", "cross", "nl", "any")),
        ({"alpha": 0.0, "beta": 0.0}, ()),
        ({"beta": 0.0, "alpha": 1.0}, ("off", "cross")),
        ({"sampling": "any"}, ("off", "cross", "nl")),
    ],
)
def test_arms_that_would_be_the_winner_are_not_asked_for(stored, params, asked):
    plan, memory = stored
    rows: dict[tuple, TrialRow] = {
        name: replace(row, params={**row.params, **params}) if "+" in row.method else row
        for name, row in memory.trials.items()
    }
    study = view_of((plan, Memory(rows, memory.repeats, memory.finals)), lambda final: [])
    assert study.arms_asked == asked


def test_without_a_plain_winner_nothing_is_crossed(stored):
    plan, memory = stored
    rows = {
        name: row if "+" in row.method else replace(row, state="failed")
        for name, row in memory.trials.items()
    }
    study = view_of((plan, Memory(rows, memory.repeats, memory.finals)), lambda final: [])
    assert study.arms_asked == ("off", "nl", "any")


def test_a_sweep_of_the_regularizer_is_crossed_with_the_plain_study_most_like_it():
    conditions = [({"layers": "8"}, "8"), ({"layers": "2"}, "2"), ({}, "any")]
    own = {"layers": "8", "clamp": "10"}
    assert most_alike(own, conditions, ()) == "8"
    assert most_alike({"clamp": "10"}, conditions, ()) == "any"
    assert most_alike({"drop_edges": "0.1"}, conditions, ("drop_edges",)) is None
    assert plain_partners([]) == {}
