"""A training is kept whole: what it learned, what it answers, how it went, what it was."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from clar_tune.errors import GraphError, ParameterError, UnknownName
from clar_tune.fits import FILES, Fit, load_configuration, train, train_again
from clar_tune.graphs import load, search_nodes, test_nodes as nodes_to_test
from clar_tune.models import BACKBONES, TensorGraph
from clar_tune.records import ENGINES, to_stored

SHORT = {"max_epochs": 12, "patience": 12, "warmup": 1}


def fitted(method: str = "gcn+clar", engine: str = "torch", **given) -> Fit:
    return train("csbm-homophily", method, engine=engine, hidden=8, **SHORT, **given)


@pytest.mark.parametrize(
    ("engine", "method"),
    [*(("torch", name) for name in BACKBONES), ("torch", "gcn+clar"), ("native", "gcn+clar")],
)
def test_the_module_has_the_weights_whatever_trained_them(method, engine):
    fit = fitted(method, engine, dropout=0.5)
    module, tensors = fit.module(), TensorGraph.of(fit.graph)
    assert not module.training
    with torch.no_grad():
        again = module(tensors.x, tensors.adjacency)
    assert torch.allclose(again, fit.logits, atol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_curve_is_the_validation_loss_of_every_epoch(engine):
    told = {}
    fit = fitted(engine=engine, report=lambda epoch, loss, best: told.update({epoch: loss}))
    assert len(fit.curve) == fit.record.epochs == 12
    assert fit.curve[fit.record.best_epoch - 1] == fit.record.val_loss == fit.curve.min()
    assert told and all(fit.curve[epoch - 1] == loss for epoch, loss in told.items())


def test_of_several_rounds_the_curve_is_that_of_the_one_kept():
    fit = fitted("gcn+adagraph", rounds=2)
    assert fit.record.epochs == 24 and len(fit.curve) == 12
    assert fit.curve[fit.record.best_epoch - 1] == fit.record.val_loss


def test_scores_are_those_of_the_predictions():
    fit = fitted(protocol="random-60-20-20", seed=3)
    split = fit.spec.protocol, fit.spec.split_seed
    right = fit.predictions == fit.graph.labels
    assert fit.score == right[search_nodes(fit.graph, *split).val].mean()
    assert fit.test_score == right[nodes_to_test(fit.graph, *split)].mean()


@pytest.mark.parametrize("engine", ENGINES)
def test_all_of_it_is_kept_in_a_folder(engine, tmp_path):
    fit = fitted(engine=engine)
    folder = fit.save(tmp_path / "new" / "kept")
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    weights = torch.load(folder / "weights.pt", weights_only=True)
    network = fit.module()
    network.load_state_dict(weights)
    rows = pq.read_table(folder / "predictions.parquet").to_pydict()
    assert rows["node"] == list(range(600)) and rows["label"] == fit.graph.labels.tolist()
    assert rows["predicted"] == np.argmax(rows["logits"], axis=1).tolist()
    assert [sum(rows[part]) for part in ("train", "val", "test")] == [360, 120, 120]
    curve = pq.read_table(folder / "curve.parquet").to_pydict()
    assert curve["epoch"] == list(range(1, 13)) and curve["val_loss"] == fit.curve.tolist()
    assert curve["selected"].index(True) + 1 == fit.record.best_epoch


def test_numbers_that_were_learned_are_kept_as_such(tmp_path, cache):
    fit = fitted("gcn", protocol="whole-graph", condition={"filter": "low-pass"})
    rows = pq.read_table(fit.save(tmp_path / "kept") / "predictions.parquet").to_pydict()
    assert np.allclose(rows["predicted"], fit.logits) and np.allclose(
        rows["target"], fit.graph.targets
    )
    assert all(rows["train"]) and all(rows["test"])


def test_what_is_kept_trains_again(tmp_path, cache):
    fit = fitted(condition={"drop_edges": 0.3}, index=2, seed=1, dropout=0.5)
    configuration = load_configuration(fit.save(tmp_path / "kept") / "configuration.json")
    again = train_again(configuration)
    assert again.spec == fit.spec and again.record.val_loss == fit.record.val_loss
    assert again.configuration == fit.configuration
    other = train_again(configuration, hidden=4, index=3)
    assert other.spec.params["hidden"] == 4 and other.spec.init_seed != fit.spec.init_seed
    assert other.spec.condition == "drop_edges=0.3"


def test_a_folder_of_another_training_is_not_written_to(tmp_path):
    fit = fitted()
    fit.save(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ParameterError, match=r"weights\.pt, .* of another training"):
        fit.save(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(ParameterError, match="this is a file"):
        fit.save(tmp_path / "weights.pt")


def test_a_graph_at_hand_is_trained_on_as_it_is():
    graph = load("csbm-homophily", "released")
    fit = train(graph, "gcn", hidden=8, **SHORT)
    assert fit.spec.graph_hash == graph.hash
    assert fit.configuration.preprocessing == "released"


def test_another_graph_than_that_of_a_configuration_is_refused():
    content = {**to_stored(fitted().configuration), "graph_hash": "0" * 16}
    with pytest.raises(GraphError, match="its content is ee6481940423066f, the configuration"):
        train_again(_read(content))


def test_what_a_condition_fixes_is_not_set_beside_it():
    with pytest.raises(ParameterError, match=r"layers: 2 was given, and the condition fixes 3"):
        train("csbm-homophily", "gcn", layers=2, condition={"layers": 3})


def test_a_parameter_that_nobody_knows_is_refused():
    with pytest.raises(UnknownName, match="unknown parameter of gcn 'widht'"):
        train("csbm-homophily", "gcn", widht=3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda content: [], "this is no configuration"),
        (lambda content: {"lr": 0.1}, "this is no configuration"),
        (lambda content: {**content, "learning": 1}, "a configuration has no learning"),
        (lambda content: {n: v for n, v in content.items() if n != "seed"}, "not whole .*seed"),
        (lambda content: {**content, "pairs": [{"number": 1}]}, "not whole .*split_seed"),
    ],
)
def test_what_is_no_configuration_is_refused_by_name(changed, message):
    content = to_stored(fitted().configuration)
    with pytest.raises(ParameterError, match=message):
        _read(changed(content))


def test_a_file_that_is_no_json_is_refused_by_name(tmp_path):
    for file in (tmp_path / "none.json", tmp_path / "half.json"):
        if file.name == "half.json":
            file.write_text('{"graph": ')
        with pytest.raises(ParameterError, match=rf"{file.name}: cannot be read as JSON"):
            load_configuration(file)


def _read(content):
    from clar_tune.configuration import read_configuration

    return read_configuration(json.loads(json.dumps(content)), "mine.json")
