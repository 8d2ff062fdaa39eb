"""Every backbone against torch-geometric's layers or its dense formula, and one suite for all."""

import math

import pytest
import torch
from torch_geometric.nn import APPNP, ChebConv, FAConv, GATConv, GCN2Conv, GCNConv, SAGEConv

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.models import REGULARIZERS, Method
from clar_tune.models.adjacency import Adjacency
from clar_tune.models.anchored import FagcnLayer, GcniiLayer
from clar_tune.models.attention import GatLayer
from clar_tune.models.backbones import BACKBONES, Gpr
from clar_tune.models.layers import ChebLayer, GcnLayer, SageLayer
from clar_tune.models.second_order import second_neighbours
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


def gcnii():
    theirs = GCN2Conv(OUT, alpha=0.2, theta=0.7, layer=3)
    mine = GcniiLayer(OUT, 0.2, math.log(0.7 / 3 + 1))
    return theirs, mine, {theirs.weight1: (mine.weight, False)}


def fagcn():
    theirs = FAConv(OUT, eps=0.3, add_self_loops=False)
    mine = FagcnLayer(OUT, 0.3, 0.0)
    left, right = theirs.att_l.weight, theirs.att_r.weight
    return theirs, mine, {left: (mine.source, True), right: (mine.target, True)}


@pytest.mark.parametrize("make", [gcnii, fagcn])
def test_layers_that_see_the_first_representation_equal_those_of_torch_geometric(make, edges):
    torch.manual_seed(0)
    theirs, mine, same = make()
    for their, (own, turned) in same.items():
        their.data.normal_()
        own.data.copy_(their.data.t() if turned else their.data)
    ours, other = ([torch.randn(NODES, OUT) for _ in range(2)] for _ in range(2))
    for one, two in zip(ours, other, strict=True):
        two.copy_(one)
        one.requires_grad_(), two.requires_grad_()
    output, expected = mine(*ours, Adjacency.of(edges, NODES)), theirs(*other, edges)
    assert torch.allclose(output, expected, atol=1e-5, rtol=1e-5)
    weight = torch.randn_like(expected)
    (expected * weight).mean().backward()
    (output * weight).mean().backward()
    for one, two in zip(ours, other, strict=True):
        assert torch.allclose(one.grad, two.grad, atol=1e-5, rtol=1e-4)
    for their, (own, turned) in same.items():
        grad = their.grad.t() if turned else their.grad
        assert torch.allclose(own.grad, grad, atol=1e-5, rtol=1e-4)


def test_gates_are_dropped_scaled_and_differentiated(edges):
    """With its mask drawn again from the same seed, a sum over gates is differentiable."""
    torch.manual_seed(0)
    layer = FagcnLayer(3, 0.3, 0.5).double().train()
    graph = Adjacency.of(edges, NODES)
    x = torch.randn(NODES, 3, dtype=torch.float64, requires_grad=True)

    def masked(value: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(3)
        return layer(value, value, graph)

    assert torch.autograd.gradcheck(masked, (x,), fast_mode=True)
    mean = torch.stack([layer(x, x, graph).detach() for _ in range(2000)]).mean(0)
    layer.eval()
    assert torch.allclose(mean, layer(x, x, graph), atol=0.2)
    assert not torch.allclose(masked(x), layer.train()(x, x, graph))


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


def dense_of(edges: torch.Tensor, *, symmetric: bool = False) -> torch.Tensor:
    """A, by target and source."""
    dense = torch.zeros(NODES, NODES)
    dense[edges[1], edges[0]] = 1
    return ((dense + dense.t()) > 0).float() if symmetric else dense


def scaled(dense: torch.Tensor) -> torch.Tensor:
    degree = dense.sum(1)
    root = torch.where(degree > 0, degree.rsqrt(), 0.0)
    return root[:, None] * dense * root


def perceptron(model, x: torch.Tensor) -> torch.Tensor:
    first, second = model.layers
    return (x @ first.weight + first.bias).relu() @ second.weight + second.bias


def appnp_formula(model, x, edges):
    return APPNP(K=10, alpha=0.3)(perceptron(model, x), edges)


def bernnet_formula(model, x, edges):
    adjacency, eye = scaled(dense_of(edges, symmetric=True)), torch.eye(NODES)
    laplacian, order = eye - adjacency, 10
    powers = torch.linalg.matrix_power
    return sum(
        model.theta[k].relu() * math.comb(order, k) / 2**order
        * powers(2 * eye - laplacian, order - k) @ powers(laplacian, k) @ perceptron(model, x)
        for k in range(order + 1)
    )  # fmt: skip


def h2gcn_formula(model, x, edges):
    near = dense_of(edges)
    far = ((near @ near > 0) & (near == 0) & ~torch.eye(NODES, dtype=torch.bool)).float()
    embedding, layer = model.layers
    start = (x @ embedding.weight + embedding.bias).relu()
    blocks = {(): start}
    for _ in range(2):  # a letter is put behind a word, as the layer orders its columns
        longest = max(map(len, blocks))
        words = [word for word in blocks if len(word) == longest]
        for letter in (1, 2):
            for word in words:
                blocks[(*word, letter)] = None
    matrices = {1: scaled(near), 2: scaled(far)}
    for word in blocks:
        block = start
        for letter in reversed(word):  # the first letter is the matrix that stands leftmost
            block = matrices[letter] @ block
        blocks[word] = block
    columns = layer.weight.chunk(len(blocks), dim=1)
    mixed = (block @ weight for block, weight in zip(blocks.values(), columns, strict=True))
    return sum(mixed) + layer.bias


FORMULAS = {
    "appnp": (appnp_formula, {"restart": 0.3}),
    "bernnet": (bernnet_formula, {}),
    "h2gcn": (h2gcn_formula, {}),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_networks_equal_their_formulas_with_gradients(name, edges):
    torch.manual_seed(0)
    formula, params = FORMULAS[name]
    model = BACKBONES[name](IN, OUT, hidden=6, **params).eval()
    for parameter in model.parameters():
        parameter.data.normal_(std=0.5)
    x, grads = torch.randn(NODES, IN), []
    weight = torch.randn(NODES, OUT)
    results = model(x, Adjacency.of(edges, NODES)), formula(model, x, edges)
    assert torch.allclose(*results, atol=1e-5, rtol=1e-5)
    for result in results:
        model.zero_grad()
        (result * weight).mean().backward()
        grads.append([parameter.grad.clone() for parameter in model.parameters()])
    for ours, theirs in zip(*grads, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5, rtol=1e-4)


def test_second_neighbours_are_those_exactly_two_steps_away():
    path_and_triangle = torch.tensor([[0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 4]])
    edges = torch.cat([path_and_triangle, path_and_triangle.flip(0)], dim=1)
    graph = Adjacency.of(edges, 8)
    found = second_neighbours(graph)
    assert found.symmetric
    assert sorted(map(tuple, found.edge_index.t().tolist())) == [(0, 2), (1, 3), (2, 0), (3, 1)]
    keep = torch.ones(graph.pairs[1], dtype=torch.bool)
    keep[graph.pairs[0][graph.pattern.indices == 2][0]] = False
    fewer = second_neighbours(graph.thinned(keep))
    assert len(fewer.pattern.indices) < len(found.pattern.indices)


# Options of message passing.


def normalised(norm: torch.nn.Module, kind: str, h: torch.Tensor) -> torch.Tensor:
    """In training: over the nodes, or over the width."""
    if kind == "none":
        return h
    axis = 0 if kind == "batch" else 1
    mean, variance = h.mean(axis, keepdim=True), h.var(axis, unbiased=False, keepdim=True)
    return (h - mean) / (variance + 1e-5).sqrt() * norm.weight + norm.bias


JOINED = {
    "last": lambda outputs: outputs[-1],
    "cat": lambda outputs: torch.cat(outputs, 1),
    "max": lambda outputs: torch.maximum(torch.maximum(*outputs[:2]), outputs[2]),
    "sum": lambda outputs: outputs[0] + outputs[1] + outputs[2],
}


@pytest.mark.parametrize("jk", ["none", *JOINED])
@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("name", ["gcn", "sage", "gat", "cheby"])
def test_norm_residual_and_jk_are_their_formula(name, residual, norm, jk, edges):
    torch.manual_seed(0)
    own = {"heads": 2} if name == "gat" else {}
    model = BACKBONES[name](
        IN, OUT, hidden=3, layers=3, norm=norm, residual=residual, jk=jk, **own
    ).train()
    for parameter in model.parameters():
        parameter.data.normal_()
    graph, x = Adjacency.of(edges, NODES), torch.randn(NODES, IN)
    act = torch.nn.functional.elu if name == "gat" else torch.relu
    h, outputs = x, []
    for number, layer in enumerate(model.layers):
        out = layer(h, graph)
        if residual:
            bypass = model.bypasses[number]
            out = out + h @ bypass.weight + bypass.bias
        if jk == "none" and number == 2:
            outputs.append(out)
            break
        h = act(normalised(model.norms[number], norm, out))
        outputs.append(h)
    expected = outputs[-1] if jk == "none" else JOINED[jk](outputs)
    if jk != "none":
        expected = expected @ model.head.weight + model.head.bias
    found = model(x, graph)
    assert found.shape == (NODES, OUT)
    assert torch.allclose(found, expected, atol=1e-4, rtol=1e-4)


def test_the_features_may_be_dropped_at_a_rate_of_their_own(edges):
    graph, x = Adjacency.of(edges, NODES), torch.ones(NODES, IN)
    still = BACKBONES["gcn"](IN, OUT, layers=1, dropout=0.9, input_dropout=0.0)
    assert not still.deterministic
    assert torch.equal(still.train()(x, graph), still.eval()(x, graph))
    model = BACKBONES["gcn"](IN, OUT, input_dropout=0.5)
    assert not model.deterministic
    assert not torch.equal(model.train()(x, graph), model.eval()(x, graph))


@pytest.mark.parametrize("name", ["gcn", "sage", "gat", "cheby"])
def test_options_at_their_default_leave_a_network_and_its_key_as_they_were(name):
    method = Method(name)
    usual = {"norm": "none", "residual": False, "jk": "none", "input_dropout": None}
    assert method.complete(usual) == method.complete({})
    assert not usual.keys() & method.complete({}).keys()
    assert method.altered(method.complete({"norm": "batch"})) == {"norm"}
    names = [name.partition(".")[0] for name, _ in BACKBONES[name](IN, OUT).named_parameters()]
    assert set(names) == {"layers"}
    assert not list(BACKBONES[name](IN, OUT).buffers())


def test_no_backbone_has_a_parameter_of_a_regularizer():
    """Both stand in one configuration."""
    shared = Method("mlp").parameters().keys()
    penalties = {p for r in REGULARIZERS for p in Method("mlp", r).parameters()} - shared
    for name in BACKBONES:
        assert not penalties & Method(name).parameters().keys()


# One suite for all.


@pytest.mark.parametrize("name", ["gcn", "sage", "gat", "cheby"])
@pytest.mark.parametrize(
    "options",
    [
        {"norm": "batch", "residual": True, "jk": "cat"},
        {"norm": "layer", "residual": True, "layers": 3, "dropout": 0.5},
    ],
)
def test_backbones_conform_with_their_options(name, options):
    check_backbone(name, hidden=4, equivariant=True, **options)


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
        ("appnp", {"restart": 1.5}),
        ("appnp", {"K": -1}),
        ("bernnet", {"K": 65}),
        ("gcnii", {"initial": 1.5}),
        ("gcnii", {"theta": 0}),
        ("fagcn", {"eps": "small"}),
        ("h2gcn", {"K": 9}),
        ("sage", {"residual": 1}),
        ("gcn", {"input_dropout": 1.0}),
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            BACKBONES[name](3, 2, **wrong)
