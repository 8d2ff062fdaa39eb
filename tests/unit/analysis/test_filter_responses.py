import numpy as np
import pytest
import torch
from scipy.special import eval_chebyt

from clar_tune.analysis.filter_responses import cheby_response, gpr_response, responses, scaled
from clar_tune.graphs import spectrum as spectra
from clar_tune.graphs.spectrum import spectrum_of
from clar_tune.graphs.splits import SearchNodes
from clar_tune.models.backbones import Mlp
from clar_tune.models.method import Method
from clar_tune.models.tensors import TensorGraph
from clar_tune.training.loop import train

GRID = np.linspace(0, 2, 41)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(spectra.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path))


def trained(graph, backbone: str, **params):
    """A model after some epochs, and what its record says."""
    method = Method(backbone)
    spec = method.spec(
        graph, params, protocol="random-60-20-20", seeds=(0, 1), max_epochs=30, patience=30
    )
    nodes = SearchNodes(train=np.array([0, 2, 4, 6, 7]), val=np.array([1, 5]))
    return train(spec, TensorGraph.of(graph), nodes)


def filtered(spectrum, response, h):
    """A filter applied through the eigenvectors."""
    u = spectrum.vectors.astype(np.float64)
    return u @ (response[:, None] * (u.T @ h))


@pytest.mark.parametrize("order", [1, 2, 5])
def test_gpr_multiplies_each_frequency_with_its_response(tiny_graph, order):
    fit = trained(tiny_graph, "gpr", K=order, lr=0.1)
    gamma = np.array([fit.record.facts[f"gamma_{k}"] for k in range(order + 1)])
    start = Method("gpr").build_model(TensorGraph.of(tiny_graph), {"K": order}).network.gamma
    assert np.abs(gamma - start.detach().numpy()).max() > 0.01  # something was learned
    spectrum = spectrum_of(tiny_graph, self_loops=True)
    tensors = TensorGraph.of(tiny_graph)
    with torch.no_grad():
        mapped = Mlp.forward(fit.model.network, tensors.x, tensors.adjacency).numpy()
    logits = filtered(spectrum, gpr_response(gamma, spectrum.values), mapped)
    assert logits == pytest.approx(fit.logits.numpy(), abs=1e-4)


def test_cheby_treats_each_frequency_by_its_response(tiny_graph):
    fit = trained(tiny_graph, "cheby", K=3, lr=0.1, hidden=4)
    tensors = TensorGraph.of(tiny_graph)
    layer = fit.model.network.layers[0]
    weights = [weight.detach().numpy().astype(np.float64) for weight in layer.weights]
    spectrum = spectrum_of(tiny_graph)
    loner = np.abs(spectrum.vectors[7]) > 0.99
    values = np.where(loner, 1.0, spectrum.values)  # cheby sees no edge of it
    with torch.no_grad():
        outputs = (layer(tensors.x, tensors.adjacency) - layer.bias).numpy()
    x = tiny_graph.features.toarray()
    summed = sum(
        filtered(spectrum, eval_chebyt(k, values - 1), x) @ w for k, w in enumerate(weights)
    )
    assert summed == pytest.approx(outputs, abs=1e-4)


def test_responses_of_cheby_are_norms_of_summed_weights(tiny_graph):
    fit = trained(tiny_graph, "cheby", K=3, lr=0.1, hidden=4, layers=3)
    found = responses(fit.record.facts, GRID)
    assert list(found) == ["layer 1", "layer 2", "layer 3"]
    for layer, response in zip(fit.model.network.layers, found.values(), strict=True):
        weights = [weight.detach().numpy().astype(np.float64) for weight in layer.weights]
        dense = np.array(
            [
                np.linalg.norm(sum(eval_chebyt(k, x - 1) * w for k, w in enumerate(weights)))
                for x in GRID
            ]
        )
        assert response == pytest.approx(dense / dense.max(), abs=1e-5)


def test_the_response_of_gpr_is_read_from_its_facts():
    facts = {"gamma_0": 0.5, "gamma_2": 2.0, "gamma_1": -1.0, "remote_pairs": 0.3}
    found = responses(facts, GRID)
    dense = 0.5 - (1 - GRID) + 2 * (1 - GRID) ** 2
    assert list(found) == ["filter"]
    assert found["filter"] == pytest.approx(dense / dense.max())


def test_more_than_ten_weights_keep_their_order():
    gamma = np.random.default_rng(0).normal(size=12)
    facts = {f"gamma_{k}": gamma[k] for k in sorted(range(12), key=str)}
    dense = sum(gamma[k] * (1 - GRID) ** k for k in range(12))
    assert responses(facts, GRID)["filter"] == pytest.approx(scaled(dense))


def test_the_largest_value_becomes_one():
    assert gpr_response(np.array([0.0, -2.0]), np.array([0.0, 2.0])).tolist() == [-2, 2]
    assert scaled(np.array([3.0, -1.5])).tolist() == [1, -0.5]
    assert scaled(np.array([-4.0, 2.0])).tolist() == [1, -0.5]
    assert scaled(np.zeros(2)).tolist() == [0, 0]


def test_rounding_below_zero_is_zero():
    # W_1 = W_0, so that T_0 + T_1 is 0 at the eigenvalue 0.
    gram = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-12]])
    assert cheby_response(gram, np.array([0.0, 1.0, 2.0])) == pytest.approx([0, 1, 2])


def test_other_backbones_have_no_response(tiny_graph):
    assert responses(trained(tiny_graph, "gcn").record.facts, GRID) == {}
