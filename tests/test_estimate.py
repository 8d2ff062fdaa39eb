"""What a dry run says."""

import json

from click.testing import CliRunner
from simulation import SPACE, plan_from

from clar_tune.cli import main
from clar_tune.datasets import load
from clar_tune.estimate import estimates
from clar_tune.search.rungs import Rungs


def test_trainings_are_counted_and_timed_where_the_graph_is_here():
    plan = plan_from(graphs=("csbm-homophily", "texas"))
    graphs = {"csbm-homophily": load("csbm-homophily")}
    plain, clar, missing, _ = estimates(plan, graphs, Rungs)
    assert (plain.trainings_at_most, plain.trainings_expected) == (3, 3)
    assert clar.trainings_at_most == 10 * 9 + 3
    assert 10 + 3 < clar.trainings_expected < 10 * 9
    assert plain.seconds > 0 and missing.seconds is None and missing.total is None


def test_without_pruning_all_trainings_are_expected():
    plan = plan_from(pruning=False, graphs=("texas",))
    assert estimates(plan, {}, Rungs)[1].trainings_expected == 10 * 9 + 3


def test_a_dry_run_shows_the_plan_and_stores_nothing(tmp_path):
    space = tmp_path / "mine.yaml"
    space.write_text(SPACE)
    command = ["run", "--space", str(space), "--dry-run", "--store", str(tmp_path / "store")]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0 and "4 studies of mine" in shown.stdout
    told = CliRunner().invoke(main, [*command, "--json"])
    assert json.loads(told.stdout)["trainings_at_most"] == 2 * (10 * 9 + 3) + 2 * 3
    assert not (tmp_path / "store").exists()
