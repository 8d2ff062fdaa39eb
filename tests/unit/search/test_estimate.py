"""What a dry run says."""

import json

import pytest
from click.testing import CliRunner
from support.simulation import SPACE, plan_from

from clar_tune.cli import main
from clar_tune.cli.dry_run import _workers
from clar_tune.cluster.asha import Asha
from clar_tune.cluster.driver import Launch
from clar_tune.graphs.loading import load
from clar_tune.search.estimate import CONDITIONS, estimates
from clar_tune.training.loop import train


def test_trainings_are_counted_and_timed_where_the_graph_is_here():
    plan = plan_from(graphs=("csbm-homophily", "texas"))
    graphs = {"csbm-homophily": load("csbm-homophily")}
    plain, clar, missing, _ = estimates(plan, graphs, Asha)
    assert (plain.trainings_at_most, plain.trainings_expected) == (3, 3)
    assert clar.trainings_at_most == 10 * 9 + 3
    assert 10 + 3 < clar.trainings_expected < 10 * 9
    assert plain.seconds > 0 and missing.seconds is None and missing.total is None


def test_without_pruning_all_trainings_are_expected():
    plan = plan_from(pruning=False, graphs=("texas",))
    assert estimates(plan, {}, Asha)[1].trainings_expected == 10 * 9 + 3


SWEPT = """
graphs: [csbm-homophily]
methods: [gcn, mlp]
protocol: PROTOCOL
conditions: [{sweep: SWEEP}]
settings: {tuned: {shared: {hidden: 8}}}
"""


def probed(monkeypatch, sweep: str, protocol: str = "balanced-60-20-20"):
    """Estimates of a sweep, and the specification of every training that was probed."""
    seen = []

    def noted(spec, tensors, nodes):
        seen.append((spec, tensors))
        return train(spec, tensors, nodes)

    monkeypatch.setattr("clar_tune.search.estimate.train", noted)
    plan = plan_from(SWEPT.replace("SWEEP", sweep).replace("PROTOCOL", protocol))
    return estimates(plan, {"csbm-homophily": load("csbm-homophily")}, Asha), seen


def test_every_depth_is_probed_on_its_own(monkeypatch):
    found, seen = probed(monkeypatch, "{layers: [1, 2, 40]}")
    assert {spec.params["layers"] for spec, _ in seen} == {1, 2, 40}
    seconds = {e.study.name: e.seconds for e in found}
    assert len(seconds) == len(set(seconds.values())) == 6


def test_of_many_conditions_some_are_probed_and_the_rest_take_as_long_as_the_nearest(monkeypatch):
    found, seen = probed(monkeypatch, f"{{hidden: {list(range(1, 41))}}}")
    assert len(found) == 80 and all(e.seconds > 0 for e in found)
    assert len({(spec.backbone, spec.params["hidden"]) for spec, _ in seen}) == 2 * CONDITIONS
    assert {spec.params["hidden"] for spec, _ in seen} >= {1, 40}
    assert found[0].seconds == found[1].seconds != found[39].seconds == found[38].seconds


def test_the_graph_of_a_condition_is_probed_without_its_spectrum(monkeypatch):
    monkeypatch.setattr(
        "clar_tune.graphs.spectrum.spectra_folder", None
    )  # neither read nor computed
    _, seen = probed(monkeypatch, "{filter: [low-pass, high-pass]}", "whole-graph")
    assert {tensors.metric for _, tensors in seen} == {"mse"}
    assert {tuple(tensors.targets.shape) for _, tensors in seen} == {(600, 32)}
    _, seen = probed(monkeypatch, "{drop_edges: [0, 0.9]}")
    edges = sorted({tensors.adjacency.edge_index.shape[1] for _, tensors in seen})
    assert edges[0] == pytest.approx(0.1 * edges[1], rel=0.01)


@pytest.mark.parametrize(
    ("given", "workers"),
    [
        ({}, 4),
        ({"max_concurrent": 3}, 3),
        ({"max_concurrent": 32}, 4),
        ({"max_concurrent": 32, "address": "auto"}, 32),
        ({"cpus": 1, "gpus": 0.25}, 4),
        ({"cpus": 2, "gpus": 0.25}, 2),
        ({"cpus": 1, "gpus": 1}, 1),
    ],
)
def test_time_is_divided_by_the_trials_at_once(given, workers, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert _workers(Launch(**given)) == workers


def test_a_dry_run_shows_the_plan_and_stores_nothing(tmp_path):
    space = tmp_path / "mine.yaml"
    space.write_text(SPACE)
    command = ["run", "--space", str(space), "--dry-run", "--store", str(tmp_path / "store")]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0 and "4 studies of mine" in shown.stdout
    told = CliRunner().invoke(main, [*command, "--json"])
    assert json.loads(told.stdout)["trainings_at_most"] == 2 * (10 * 9 + 3) + 2 * 3
    assert not (tmp_path / "store").exists()


def test_a_model_that_fails_ends_a_dry_run_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "failing_model.py").write_text(
        "from torch import nn\n\nclass Raises(nn.Linear):\n"
        "    def forward(self, x, edge_index):\n        raise KeyError('no such weight')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.yaml").write_text(
        "graphs: [csbm-homophily]\nmethods: ['failing_model:Raises']\n"
        "protocol: balanced-60-20-20\nsettings: {tuned: {}}\n"
    )
    shown = CliRunner().invoke(main, ["run", "--space", str(tmp_path / "mine.yaml"), "--dry-run"])
    assert shown.exit_code == 1
    assert shown.stderr == "clar-tune: KeyError at failing_model.py:5: 'no such weight'\n"
