import numpy as np
import pytest
import torch

from clar_tune.graphs import spectrum as spectra
from clar_tune.graphs.block_models import generate
from clar_tune.graphs.graph import preprocess
from clar_tune.graphs.splits import search_nodes, seed_pair
from clar_tune.models.method import Method
from clar_tune.models.tensors import TensorGraph
from clar_tune.records import TrainRecord
from clar_tune.training.ablation import (
    ONE,
    SEVERAL,
    Measured,
    Stage,
    Summary,
    labelled_arms,
    seen,
    summary,
)
from clar_tune.training.frequencies import Energy, Frequencies
from clar_tune.training.loop import train

PROTOCOL = "balanced-60-20-20"


def labels_of(name: str, **params) -> list[str]:
    method = Method.parse(name)
    return list(labelled_arms(method, method.checked(params)))


def measured(frequency: float | None, active: float | None = 1.0) -> Measured:
    record = TrainRecord("k", "accuracy", 0.5, 1.0, 10, 5, 0.1, 3, 3, penalty_active=active)
    return Measured(None, record, Energy(1.0, 0.0, frequency, None), None)


def test_who_is_trained_beside_a_method():
    assert labels_of("gcn") == ["gcn"]
    assert labels_of("gcn+preg") == ["gcn", "gcn+preg"]
    assert labels_of("gcn+clar") == ["gcn", "gcn+clar", "gcn+clar sampling=any"]
    assert labels_of("sage+clar", sampling="edge")[2] == "sage+clar sampling=any"


def test_without_a_complement_there_is_no_control():
    assert labels_of("gcn+clar", beta=0) == ["gcn", "gcn+clar"]
    assert labels_of("gcn+clar", sampling="any") == ["gcn", "gcn+clar"]
    assert labels_of("gcn+nl") == ["gcn", "gcn+nl"]


def test_contenders_differ_in_nothing_else():
    method = Method.parse("gcn+clar")
    given = method.checked({"dropout": 0.5, "lr": 0.2})
    plain, own, control = labelled_arms(method, given).values()
    assert plain.params.items() < own.params.items()
    assert {**own.params, "sampling": "any"} == control.params
    assert (plain.params["dropout"], plain.params["lr"]) == (0.5, 0.2)


@pytest.fixture
def stage(tmp_path, monkeypatch) -> Stage:
    monkeypatch.setattr(spectra.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path))
    graph = preprocess(generate("csbm-homophily"), "undirected")
    rules = {"protocol": PROTOCOL, "max_epochs": 20}
    return Stage(graph, TensorGraph.of(graph), Frequencies.of(graph), rules)


def test_the_energy_is_that_of_the_selected_epoch_in_evaluation_mode(stage):
    method = Method.parse("gcn+clar")
    weak = {"alpha": 0.01, "beta": 0.01}
    given = method.checked({**weak, "dropout": 0.8, "lr": 0.3})
    arm = labelled_arms(method, given)[method.name]
    seeds = seed_pair(stage.graph.name, PROTOCOL, 0, 0, "repeat")
    found = stage.measure(arm, seeds, test=True, report=None)
    assert found.record.best_epoch < 20
    fit = train(
        found.spec, stage.tensors, search_nodes(stage.graph, PROTOCOL, found.spec.split_seed)
    )
    fit.model.eval()
    with torch.no_grad():
        logits = fit.model(stage.tensors, stage.tensors.adjacency).numpy()
    assert found.energy == stage.frequencies.energy(logits)
    assert 0 <= found.test_score <= 1
    assert stage.measure(arm, seeds, test=False, report=None).test_score is None


def test_weights_of_zero_give_the_plain_energy(stage):
    method = Method.parse("gcn+clar")
    plain, own = labelled_arms(method, method.checked({"alpha": 0, "beta": 0})).values()
    seeds = seed_pair(stage.graph.name, PROTOCOL, 0, 3, "repeat")
    energies = [stage.measure(one, seeds, False, None).energy for one in (plain, own)]
    assert energies[0] == energies[1]


def test_a_summary_is_mean_and_deviation():
    assert summary([1.0, 3.0]) == Summary(2.0, np.sqrt(2))
    assert summary([1.0, None]) == Summary(1.0, None)
    assert summary([None]) is None


def test_what_one_training_shows():
    results = {
        "gcn": [measured(0.5)],
        "gcn+clar": [measured(0.7)],
        "gcn+clar sampling=any": [measured(0.75)],
    }
    assert seen(results) == [
        "The outputs of gcn have a mean frequency of 0.500.",
        "Those of gcn+clar have 0.700: higher by 0.200.",
        "The control sampling=any, which draws edges too, has 0.750: against it gcn+clar is "
        "lower by 0.050.",
        ONE,
    ]


def test_what_several_trainings_show():
    results = {
        "gcn": [measured(0.5), measured(0.5), measured(0.5)],
        "gcn+clar": [measured(0.4), measured(0.6), measured(0.2)],
    }
    assert seen(results)[1:] == [
        "Those of gcn+clar have 0.400: lower by 0.100 ± 0.200, in 2 of 3 trainings.",
        SEVERAL,
    ]


def test_a_mean_without_some_trainings_says_so():
    results = {"gcn": [measured(0.5), measured(None), measured(0.3)]}
    assert "0.400 (equal outputs at all nodes in 1 of 3)" in seen(results)[0]


def test_equal_outputs_and_silent_penalties_are_said():
    results = {"gcn": [measured(None)], "gcn+clar": [measured(0.4, active=0.0)]}
    assert seen(results) == [
        "The outputs of gcn have a mean frequency of none (equal outputs at all nodes in 1 of 1).",
        "Those of gcn+clar have 0.400: no difference.",
        "Its penalty never had a gradient: this is the plain backbone.",
        ONE,
    ]
