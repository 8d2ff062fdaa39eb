"""What a dry run says."""

import json
import random
from dataclasses import replace

import pytest
from click.testing import CliRunner
from support.simulation import SPACE, plan_from

from clar_tune.cli import main
from clar_tune.cli.dry_run import _workers
from clar_tune.cluster.asha import Asha
from clar_tune.cluster.driver import Launch
from clar_tune.graphs.loading import load
from clar_tune.records import Pace
from clar_tune.rows import rungs_up_to
from clar_tune.search.epoch_costs import epochs, seconds_per_epoch
from clar_tune.search.estimate import NATIVE, estimates
from clar_tune.search.expected_repeats import expected_repeats, simulated_repeats
from clar_tune.search.probe import CONDITIONS, machine_factor, probed_epochs
from clar_tune.search.sizes import Size
from clar_tune.training.loop import train

SWEPT = """
graphs: [csbm-homophily]
methods: [gcn, mlp]
protocol: PROTOCOL
conditions: [{sweep: SWEEP}]
settings: {tuned: {shared: {hidden: 8}}}
"""


def estimated(plan, factor=lambda: 1.0, paces=(), probed=()):
    """Estimates of a plan by the table, unless something else tells."""
    sizes = {name: Size.known(name, "undirected") for name in plan.graphs}
    return estimates(plan, sizes, factor, dict(paces), dict(probed))


def swept(sweep: str, protocol: str = "balanced-60-20-20", **options):
    return plan_from(SWEPT.replace("SWEEP", sweep).replace("PROTOCOL", protocol), **options)


# How many trainings


def test_trainings_are_counted_and_timed_wherever_the_graph_is():
    plain, clar, missing, _ = estimated(plan_from(graphs=("csbm-homophily", "texas")))
    assert (plain.trainings_at_most, plain.trainings_expected) == (3, 3)
    assert clar.trainings_at_most == 10 * 9 + 5 * 3  # on, off, cross, nl, any
    assert 10 + 5 * 3 < clar.trainings_expected < 10 * 9
    assert plain.seconds > 0 and missing.seconds > 0
    assert plain.total == plain.seconds * 3


def test_without_pruning_all_trainings_are_expected():
    plan = plan_from(pruning=False, graphs=("texas",))
    assert estimated(plan)[1].trainings_expected == 10 * 9 + 5 * 3


def test_arms_that_are_spared_are_not_counted():
    plan = plan_from(pruning=False, graphs=("texas",), ablation=False)
    assert [e.trainings_expected for e in estimated(plan)] == [3, 10 * 9 + 3]


def test_of_finals_by_precision_the_most_are_counted_and_the_least_expected():
    text = SPACE.replace("finals: 3", "finals: {half_width: 0.4, at_least: 5, at_most: 30}")
    clar = estimated(plan_from(text, pruning=False, graphs=("texas",)))[1]
    assert (clar.trainings_at_most, clar.trainings_expected) == (90 + 5 * 30, 90 + 5 * 5)


@pytest.mark.parametrize(("trials", "repeats", "reduction"), [(60, 9, 3), (60, 10, 2), (9, 5, 4)])
def test_a_simulated_search_is_pruned_as_by_ray(trials, repeats, reduction):
    for seed in range(5):
        draw, judge, total = random.Random(seed), Asha(repeats, reduction, True), 0
        for trial in range(trials):
            quality = draw.random()
            for repeat in range(1, repeats + 1):
                total += 1
                if not judge(trial, repeat, quality):
                    break
        rungs, draw = rungs_up_to(repeats, reduction), random.Random(seed)
        assert simulated_repeats(trials, rungs, reduction, draw) == total


def test_a_million_trials_are_expected_to_take_what_the_rungs_leave_of_them():
    # All have 1 repeat, a third of them 3, a ninth 9.
    assert expected_repeats(10**6, 9, 3) == pytest.approx((1 + 2 / 3 + 6 / 9) * 10**6, rel=0.001)
    assert expected_repeats(10**6, 1, 3) == 10**6
    assert expected_repeats(1, 9, 3) == 9


# By the table


def test_a_deeper_and_a_wider_network_takes_longer_and_a_smaller_graph_less():
    one, two, many = estimated(swept("{layers: [1, 2, 40]}"))[:3]
    assert one.seconds < two.seconds < many.seconds
    narrow, wide = estimated(swept("{hidden: [8, 256]}"))[:2]
    assert narrow.seconds < wide.seconds
    whole, thin = estimated(swept("{drop_edges: [0, 0.9]}"))[:2]
    assert thin.seconds < whole.seconds
    assert {e.source for e in estimated(swept("{layers: [1, 2]}"))} == {"table"}


def test_times_of_the_table_are_those_of_this_machine_by_its_factor():
    once, twice = (estimated(plan_from(), lambda f=f: f) for f in (1.0, 2.0))
    assert [e.seconds for e in twice] == pytest.approx([2 * e.seconds for e in once])


def test_the_machine_is_asked_once_and_only_for_the_table():
    asked = []
    plan = plan_from()
    estimated(plan, lambda: asked.append(1) or 1.0)
    assert len(asked) == 1
    probed = dict.fromkeys(range(len(plan.studies)), 0.01)
    assert {e.source for e in estimated(plan, None, probed=probed)} == {"probed"}


def test_a_plain_training_takes_the_epochs_and_seconds_of_its_one_configuration():
    size = Size.known("csbm-homophily", "undirected")
    for engine, faster in (("torch", 1.0), ("native", NATIVE)):
        plan = plan_from(engine=engine)
        study = plan.studies[0]
        params = study.method.complete(study.parameters.at([]))
        wanted = epochs(study.method, params, study.training)
        assert estimated(plan)[0].epochs == wanted
        each = seconds_per_epoch(study.method, params, size) / faster
        assert estimated(plan)[0].seconds == pytest.approx(wanted * each)


def test_a_training_has_no_more_epochs_than_its_rules_allow():
    study = plan_from().studies[0]
    params = study.method.complete({})
    short = replace(study.training, max_epochs=20)
    assert epochs(study.method, params, short) == 20
    patient = replace(study.training, max_epochs=10**6, patience=5000)
    assert 5000 < epochs(study.method, params, patient) < 6001


def test_a_method_of_the_user_takes_as_long_as_gcn_by_torch_where_it_cannot_be_tried():
    plan = plan_from(
        "graphs: [csbm-homophily]\nmethods: [gcn, 'support.own_classes:OwnNetwork']\n"
        "protocol: balanced-60-20-20\nsettings: {tuned: {}}\n"
    )
    gcn, own = estimated(plan)
    assert (gcn.source, own.source) == ("table", "nearest")
    assert own.seconds == pytest.approx(NATIVE * gcn.seconds, rel=0.5)


def test_this_machine_has_a_speed():
    assert 0.01 < machine_factor() < 100


# By stored runs and by probes


def test_a_stored_run_tells_epochs_and_their_time_and_a_probe_their_time():
    plan = plan_from()
    place = plan.studies[1].place
    pace = Pace(runs=2, trainings=50, selected=40.0, seconds_per_epoch=0.5)
    stored = estimated(plan, paces={place: pace})[1]
    assert stored.source == "stored"
    assert stored.epochs == 40 + plan.studies[1].training.patience
    assert stored.seconds == stored.epochs * 0.5
    probed = estimated(plan, paces={place: pace}, probed={1: 0.25})[1]
    assert (probed.source, probed.seconds) == ("probed", stored.epochs * 0.25)


def probed(monkeypatch, sweep: str, protocol: str = "balanced-60-20-20"):
    """Seconds of an epoch in a sweep, and every training that was probed."""
    seen = []

    def noted(spec, tensors, nodes, report):
        seen.append((spec, tensors))
        return train(spec, tensors, nodes, report)

    monkeypatch.setattr("clar_tune.search.probe.train", noted)
    plan = swept(sweep, protocol, engine="torch")
    graphs = {"csbm-homophily": load("csbm-homophily")}
    return plan, probed_epochs(plan, graphs, range(len(plan.studies))), seen


def test_every_depth_is_probed_on_its_own(monkeypatch):
    plan, found, seen = probed(monkeypatch, "{layers: [1, 2, 40]}")
    assert {spec.params["layers"] for spec, _ in seen} == {1, 2, 40}
    assert len(plan.studies) == len(found) == len(set(found.values())) == 6


def test_of_many_conditions_some_are_probed_and_the_rest_take_as_long_as_the_nearest(monkeypatch):
    _, found, seen = probed(monkeypatch, f"{{hidden: {list(range(1, 41))}}}")
    assert len(found) == 80 and all(seconds > 0 for seconds in found.values())
    assert len({(spec.backbone, spec.params["hidden"]) for spec, _ in seen}) == 2 * CONDITIONS
    assert {spec.params["hidden"] for spec, _ in seen} >= {1, 40}
    assert found[0] == found[1] != found[39] == found[38]


def test_the_graph_of_a_condition_is_probed_without_its_spectrum(monkeypatch):
    monkeypatch.setattr(
        "clar_tune.graphs.spectrum.spectra_folder", None
    )  # neither read nor computed
    _, _, seen = probed(monkeypatch, "{filter: [low-pass, high-pass]}", "whole-graph")
    assert {tensors.metric for _, tensors in seen} == {"mse"}
    assert {tuple(tensors.targets.shape) for _, tensors in seen} == {(600, 32)}
    _, _, seen = probed(monkeypatch, "{drop_edges: [0, 0.9]}")
    edges = sorted({tensors.adjacency.edge_index.shape[1] for _, tensors in seen})
    assert edges[0] == pytest.approx(0.1 * edges[1], rel=0.01)


# What is printed


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


def told(tmp_path, *words):
    """What a dry run of the usual space says as JSON."""
    (tmp_path / "mine.yaml").write_text(SPACE)
    command = ["run", "--space", str(tmp_path / "mine.yaml"), "--dry-run", *words, "--json"]
    done = CliRunner().invoke(main, [*command, "--store", str(tmp_path / "store")])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_dry_run_shows_the_plan_and_stores_nothing(tmp_path):
    space = tmp_path / "mine.yaml"
    space.write_text(SPACE)
    command = ["run", "--space", str(space), "--dry-run", "--store", str(tmp_path / "store")]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0 and "4 studies of mine" in shown.stdout
    assert "from a table, this machine is" in " ".join(shown.stdout.split())
    assert told(tmp_path)["trainings_at_most"] == 2 * (10 * 9 + 5 * 3) + 2 * 3
    assert not (tmp_path / "store").exists()


def test_a_dry_run_trains_on_no_graph_of_the_plan_unless_it_is_told_to_probe(
    tmp_path, monkeypatch
):
    seen = []

    def noted(plan, graphs, chosen):
        seen.append((sorted(graphs), list(chosen)))
        return dict.fromkeys(chosen, 0.01)

    monkeypatch.setattr("clar_tune.search.probe.probed_epochs", noted)
    monkeypatch.setattr("clar_tune.search.probed_epochs", noted, raising=False)
    assert told(tmp_path)["sources"] == {"table": 4}
    assert not seen
    assert told(tmp_path, "--probe")["sources"] == {"probed": 4}
    assert seen == [(["csbm-heterophily", "csbm-homophily"], [0, 1, 2, 3])]


def test_a_probe_without_a_dry_run_is_refused():
    done = CliRunner().invoke(main, ["run", "--space", "quickstart", "--probe"])
    assert done.exit_code == 2 and "--probe is for --dry-run" in done.stderr


def test_a_model_that_fails_ends_a_dry_run_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "failing_model.py").write_text(
        "from torch import nn\n\nclass Raises(nn.Linear):\n"
        "    def forward(self, x, edge_index):\n        raise KeyError('no such weight')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(
        "graphs: [csbm-homophily]\nmethods: ['failing_model:Raises']\n"
        "protocol: balanced-60-20-20\nsettings: {tuned: {}}\n"
    )
    shown = CliRunner().invoke(main, ["run", "--space", str(tmp_path / "mine.yaml"), "--dry-run"])
    assert shown.exit_code == 1
    assert shown.stderr == "clar-tune: KeyError at failing_model.py:5: 'no such weight'\n"


def test_the_native_engine_is_expected_to_take_a_fraction_of_the_time():
    chosen = {"graphs": ("csbm-homophily",), "methods": ("gcn",)}
    (torch,), (native,) = (estimated(plan_from(engine=e, **chosen)) for e in ("torch", "native"))
    assert native.seconds == pytest.approx(torch.seconds / NATIVE)
    assert native.epochs == torch.epochs
