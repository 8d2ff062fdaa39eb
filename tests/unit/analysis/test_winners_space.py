"""Winners of a run as a space: what it fixes, and what it refuses."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from support.results import SPACE, plausible, simulated, stored

from clar_tune.analysis import read_run, winners_space
from clar_tune.cli import main
from clar_tune.errors import StoreError
from clar_tune.space import Options, make_plan, parse_space
from clar_tune.store import Store


def run_of(folder, space=SPACE, **changed):
    row, memory = simulated(space, plausible)
    stored(folder, replace(row, **changed), memory, "first")
    return read_run(Store.open(str(folder)), "first")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return run_of(tmp_path_factory.mktemp("winners"))


def test_every_study_is_fixed_at_its_winner(first):
    space = parse_space(winners_space(first), "winners", "winners.yaml")
    plan = make_plan(space, Options())
    found = {s.name: s.parameters.at([]) for s in plan.studies}
    assert found == {f"{s.graph} {s.method}": dict(s.best.params) for s in first.studies}
    assert not any(study.has_search for study in plan.studies)


def test_the_ground_and_the_rules_are_those_of_the_run(first):
    space = parse_space(winners_space(first), "winners", "winners.yaml")
    own = space.settings["tuned"]
    assert dict(own.protocols) == {s.graph: s.protocol for s in first.studies}
    assert own.finals == first.row.planned[0].finals
    assert own.training.select == first.budget["select"]
    assert own.training.max_epochs == first.budget["max_epochs"]
    assert space.margin == first.row.margin


def test_preprocessing_comes_from_the_settings_of_the_run(tmp_path):
    text = SPACE.replace("protocol:", "preprocessing: released\nprotocol:", 1)
    space = parse_space(winners_space(run_of(tmp_path, text)), "winners", "winners.yaml")
    assert space.preprocessing == "released"


def test_runs_with_conditions_are_refused(tmp_path):
    swept = SPACE + "conditions: [{sweep: {hidden: [16, 64]}}]\n"
    with pytest.raises(StoreError, match="has conditions, and a winner for each"):
        winners_space(run_of(tmp_path, swept))


def test_a_missing_winner_is_named(first):
    unfinished = replace(first, studies=first.studies[:-1])
    last = first.studies[-1]
    with pytest.raises(StoreError, match="no winner yet for") as refused:
        winners_space(unfinished)
    assert f"{last.method} on {last.graph}" in str(refused.value)


def test_the_command_prints_a_space_that_is_checked(tmp_path):
    run_of(tmp_path / "store")
    printed = CliRunner().invoke(main, ["spaces", "winners", "--store", str(tmp_path / "store")])
    assert printed.exit_code == 0, printed.output
    file = tmp_path / "winners.yaml"
    file.write_text(printed.stdout)
    checked = CliRunner().invoke(main, ["spaces", "check", str(file)])
    assert checked.exit_code == 0, checked.output
