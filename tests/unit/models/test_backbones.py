"""Every backbone against torch-geometric's layers or its dense formula, and one suite for all."""

import pytest
import torch
from torch_geometric.nn import ChebConv, GATConv, GCNConv, SAGEConv

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.models.adjacency import Adjacency
from clar_tune.models.attention import GatLayer
from clar_tune.models.backbones import BACKBONES, Gpr
from clar_tune.models.layers import ChebLayer, GcnLayer, SageLayer
from clar_tune.models.sparse import Csr, Pattern
from clar_tune.models.tensors import TensorGraph
from clar_tune.testing import check_backbone

NODES, IN, OUT = 40, 9, 4


@pytest.fixture(params=["undirected", "directed"])
def edges(request) -> torch.Tensor:
    """A random graph whose last two nodes have no edges."""
    torch.manual_seed(1)
    pairs = torch.randint(0, NODES - 2, (2, 120))
    pairs = pairs[:, pairs[0] != pairs[1]]
    if request.param == "undirected":
        pairs = torch.cat([pairs, pairs.flip(0)], dim=1)
    return torch.unique(pairs, dim=1)


def gcn():
    theirs, mine = GCNConv(IN, OUT), GcnLayer(IN, OUT)
    return theirs, mine, {theirs.lin.weight: mine.weight, theirs.bias: mine.bias}


def sage():
    theirs, mine = SAGEConv(IN, OUT), SageLayer(IN, OUT)
    left, right = theirs.lin_l, theirs.lin_r
    same = {left.weight: mine.neighbours, right.weight: mine.own, left.bias: mine.bias}
    return theirs, mine, same


def cheb(order: int):
    theirs, mine = ChebConv(IN, OUT, K=order + 1), ChebLayer(IN, OUT, order)
    same = {lin.weight: weight for lin, weight in zip(theirs.lins, mine.weights, strict=True)}
    return theirs, mine, {**same, theirs.bias: mine.bias}


def gat(heads: int):
    theirs, mine = GATConv(IN, OUT, heads=heads), GatLayer(IN, OUT, heads, 0.0)
    same = {theirs.lin.weight: mine.weight, theirs.bias: mine.bias}
    return theirs, mine, {**same, theirs.att_src: mine.source, theirs.att_dst: mine.target}


LAYERS = {
    "gcn": gcn,
    "sage": sage,
    "cheb-0": lambda: cheb(0),
    "cheb-1": lambda: cheb(1),
    "cheb-2": lambda: cheb(2),
    "cheb-4": lambda: cheb(4),
    "gat-1": lambda: gat(1),
    "gat-8": lambda: gat(8),
}


def in_our_shape(theirs: torch.Tensor) -> torch.Tensor:
    """Their weights are transposed, and their attention has one more axis."""
    return theirs.t() if theirs.dim() == 2 else theirs.squeeze(0)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("sparse", [True, False])
def test_same_weights_same_output_and_gradients_as_torch_geometric(name, sparse, edges):
    torch.manual_seed(0)
    theirs, mine, same = LAYERS[name]()
    for their, own in same.items():
        their.data.normal_()
        own.data.copy_(in_our_shape(their.data))
    dense = torch.rand(NODES, IN) * (torch.rand(NODES, IN) < 0.5)
    x_theirs = dense.clone().requires_grad_()
    x_mine = as_csr(dense) if sparse else dense.clone().requires_grad_()
    expected = theirs(x_theirs, edges)
    output = mine(x_mine, Adjacency.of(edges, NODES))
    assert torch.allclose(output, expected, atol=1e-5, rtol=1e-5)

    weight = torch.randn_like(expected)
    (expected * weight).mean().backward()
    (output * weight).mean().backward()
    for their, own in same.items():
        assert torch.allclose(own.grad, in_our_shape(their.grad), atol=1e-5, rtol=1e-4)
    if not sparse:
        assert torch.allclose(x_mine.grad, x_theirs.grad, atol=1e-5, rtol=1e-4)


def as_csr(dense: torch.Tensor) -> Csr:
    rows, cols = dense.nonzero().t()
    return Csr(Pattern.of(rows, cols, *dense.shape), dense[rows, cols])


def test_attention_gradients_are_right_in_double_precision(edges):
    torch.manual_seed(0)
    layer = GatLayer(3, 2, 2, 0.0).double()
    graph = Adjacency.of(edges, NODES)
    x = torch.randn(NODES, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda value: layer(value, graph), (x,), fast_mode=True)


def test_attention_dropout_is_scaled_and_differentiated(edges):
    """With its mask drawn again from the same seed, the output is linear in the mask."""
    torch.manual_seed(0)
    layer = GatLayer(3, 2, 2, 0.5).double().train()
    graph = Adjacency.of(edges, NODES)
    x = torch.randn(NODES, 3, dtype=torch.float64, requires_grad=True)

    def masked(value: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(3)
        return layer(value, graph)

    assert torch.autograd.gradcheck(masked, (x,), fast_mode=True)
    mean = torch.stack([layer(x, graph).detach() for _ in range(2000)]).mean(0)
    layer.eval()
    assert torch.allclose(mean, layer(x, graph), atol=0.2)
    assert not torch.allclose(masked(x), layer.train()(x, graph))


@pytest.mark.parametrize(("given", "expected"), [(None, 0.6), (0.0, 0.0), (0.2, 0.2)])
def test_attention_is_dropped_as_features_are_unless_it_is_said(given, expected):
    network = BACKBONES["gat"](IN, OUT, dropout=0.6, attention_dropout=given)
    assert [layer.attention_dropout for layer in network.layers] == [expected] * 2
    assert not network.deterministic
    assert BACKBONES["gat"](IN, OUT).deterministic


@pytest.mark.parametrize(
    ("activation", "function"),
    [("elu", torch.nn.functional.elu), ("relu", torch.nn.functional.relu)],
)
def test_gat_has_the_activation_that_is_asked_for(activation, function, edges):
    torch.manual_seed(0)
    network = BACKBONES["gat"](IN, OUT, activation=activation).eval()
    graph, x = Adjacency.of(edges, NODES), torch.randn(NODES, IN)
    first, last = network.layers
    assert torch.allclose(network(x, graph), last(function(first(x, graph)), graph))
    with pytest.raises(UnknownName, match="activation 'tanh'. Allowed: elu, relu"):
        BACKBONES["gat"](IN, OUT, activation="tanh")


def test_attention_survives_scores_far_apart():
    layer = GatLayer(1, 1, 1, 0.0)
    for parameter in (layer.weight, layer.source, layer.target):
        parameter.data.fill_(1.0)
    x = torch.tensor([[0.0], [1e4], [-1e4]])
    out = layer(x, Adjacency.of(torch.tensor([[1, 2], [0, 0]]), 3))
    assert out.isfinite().all()
    assert out[0].item() == pytest.approx(1e4)


def test_gpr_equals_its_dense_formula(edges):
    torch.manual_seed(0)
    model = Gpr(IN, OUT, hidden=6, K=3, restart=0.2).eval()
    assert model.gamma.tolist() == pytest.approx([0.2, 0.16, 0.128, 0.512])
    model.gamma.data.normal_()
    x = torch.randn(NODES, IN)
    dense = torch.zeros(NODES, NODES)
    dense[edges[1], edges[0]] = 1
    dense += torch.eye(NODES)
    root = dense.sum(1).rsqrt()
    smooth = root[:, None] * dense * root
    first, second = model.layers
    hidden = (x @ first.weight + first.bias).relu() @ second.weight + second.bias
    expected = sum(
        model.gamma[k] * torch.linalg.matrix_power(smooth, k) @ hidden for k in range(4)
    )
    assert torch.allclose(model(x, Adjacency.of(edges, NODES)), expected, atol=1e-5)


# One suite for all.


@pytest.mark.parametrize("layers", [1, 2, 3, 64])
@pytest.mark.parametrize("name", BACKBONES)
def test_every_backbone_conforms_at_any_depth(name, layers):
    check_backbone(name, hidden=4, layers=layers, equivariant=True)


@pytest.mark.parametrize("name", BACKBONES)
def test_every_backbone_conforms_with_dropout(name):
    """Then it does not call itself deterministic: training and evaluation would have to agree."""
    check_backbone(name, dropout=0.5, equivariant=True)


@pytest.mark.parametrize("name", BACKBONES)
def test_every_backbone_conforms_in_its_narrowest_form(name):
    check_backbone(name, hidden=1, layers=3, equivariant=True)


@pytest.mark.parametrize("name", BACKBONES)
def test_sparse_and_dense_features_give_the_same_logits(name, tiny_graph):
    graph = TensorGraph.of(tiny_graph)
    torch.manual_seed(0)
    model = BACKBONES[name](graph.x.shape[1], 2)
    assert model.deterministic
    sparse, dense = (model(x, graph.adjacency) for x in (graph.x, graph.dense_x))
    assert torch.allclose(sparse, dense, atol=1e-6)


@pytest.mark.parametrize("name", BACKBONES)
def test_impossible_architectures_are_refused(name):
    for wrong in ({"layers": 0}, {"layers": 65}, {"hidden": 0}, {"dropout": 1.0}, {"layers": 2.0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            BACKBONES[name](3, 2, **wrong)


def test_wrong_values_of_single_backbones_are_refused():
    for name, wrong in (
        ("gat", {"heads": 0}),
        ("gat", {"attention_dropout": -0.1}),
        ("cheby", {"K": -1}),
        ("gpr", {"restart": 1.5}),
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            BACKBONES[name](3, 2, **wrong)
