"""Each regularizer against its dense formula, and one suite for all."""

import copy
import math

import pytest
import torch
from torch import Tensor

from clar_tune.errors import ClarTuneError
from clar_tune.graphs import partners
from clar_tune.models.adjacency import Adjacency, smoothing
from clar_tune.models.complement import Complement
from clar_tune.models.regularizers import CLAR, NL, REGULARIZERS, AdaGraph, DropEdge, MadReg, PReg
from clar_tune.models.regularizers.energy import REDUCTIONS, Laplacian, energies
from clar_tune.models.sparse import Pattern
from clar_tune.testing import check_regularizer

NODES = 14
PENALTIES = ("clar", "nl", "preg", "madreg")
"""Those that add to the loss; the others act on the graph."""


@pytest.fixture
def graph() -> Adjacency:
    """A random undirected graph of 14 nodes; the last one has no edge."""
    torch.manual_seed(2)
    pairs = torch.randint(0, NODES - 1, (2, 18))
    return Adjacency.of(pairs, NODES).symmetrised


@pytest.fixture
def logits() -> Tensor:
    torch.manual_seed(3)
    return torch.randn(NODES, 3, dtype=torch.float64, requires_grad=True)


def dense(pattern: Pattern) -> Tensor:
    return pattern.filled(torch.ones(len(pattern.indices), dtype=torch.float64)).to_dense()


def dense_energy(h: Tensor, adjacency: Tensor, reduction: str) -> Tensor:
    """The definitions, term by term."""
    degree = adjacency.sum(1)
    root = torch.where(degree > 0, degree.rsqrt(), 0.0)
    normal = root[:, None] * adjacency * root
    if reduction == "released":
        source, target = adjacency.nonzero().t()
        norms = normal[source, target] * (h[source] - h[target]).norm(dim=1)
        return len(source) * norms.mean() ** 2
    laplacian = normal.sum(1).diag() - normal
    trace = torch.trace(h.t() @ laplacian @ h)
    return trace / len(h) if reduction == "node-mean" else trace


# Energy and CLAR.


def test_energy_of_the_two_ends_of_a_path():
    """Edges 0-1 and 1-2, degrees 1 2 1: (1 + 1) / sqrt 2."""
    path = Adjacency.of(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), 3)
    h = torch.tensor([[1.0], [0.0], [1.0]])
    laplacian = Laplacian.of(path.pattern, torch.float32)
    loss, values = energies(h, [laplacian], [3.0], "trace", None)
    assert values.tolist() == pytest.approx([math.sqrt(2)])
    assert loss.item() == pytest.approx(3 * math.sqrt(2))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_energy_equals_the_dense_formula_with_its_gradient(reduction, graph, logits):
    laplacian = Laplacian.of(graph.pattern, torch.float64)
    loss, _ = energies(logits, [laplacian], [0.7], reduction, None)
    (mine,) = torch.autograd.grad(loss, logits)
    expected = 0.7 * dense_energy(logits, dense(graph.pattern), reduction)
    (theirs,) = torch.autograd.grad(expected, logits)
    assert torch.allclose(loss, expected)
    assert torch.allclose(mine, theirs)


def test_a_constant_signal_costs_nothing_even_when_it_is_large(graph):
    h = torch.full((NODES, 3), 1e4) + 1e-3 * torch.randn(NODES, 3)
    exact = dense_energy(h.double(), dense(graph.pattern), "trace").item()
    _, values = energies(h, [Laplacian.of(graph.pattern, torch.float32)], [1.0], "trace", None)
    assert values.item() == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("sampling", ["node", "edge", "any"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("clamp", [1.0, 10.0, None])
def test_clar_equals_its_equation(sampling, reduction, clamp, graph, logits):
    alpha, beta, samples = -0.4, 1.7, 2
    clar = CLAR(
        alpha=alpha,
        beta=beta,
        samples=samples,
        sampling=sampling,
        reduction=reduction,
        clamp=clamp,
    )
    torch.manual_seed(4)
    penalty = clar.penalty(logits, graph)
    torch.manual_seed(4)
    absent = Complement(graph).sample(sampling, samples)
    com = dense_energy(logits, dense(absent), reduction)
    ori = dense_energy(logits, dense(graph.pattern), reduction)
    expected = beta * com.clamp(0, clamp) + alpha * ori.clamp(0, clamp)
    assert torch.allclose(penalty.loss, expected)
    assert penalty.names == ("com", "ori")
    assert penalty.values.tolist() == pytest.approx([com.item(), ori.item()])
    assert penalty.limits == (0, math.inf if clamp is None else clamp)
    (mine,) = torch.autograd.grad(penalty.loss, logits)
    (theirs,) = torch.autograd.grad(expected, logits)
    assert torch.allclose(mine, theirs)


def test_a_clamped_term_has_no_gradient(graph, logits):
    clar = CLAR(alpha=1.0, beta=0.0, reduction="trace", clamp=1.0)
    penalty = clar.penalty(10 * logits, graph)
    assert penalty.values.item() > 1
    assert penalty.loss == 1
    assert torch.autograd.grad(penalty.loss, logits)[0].abs().sum() == 0


@pytest.mark.parametrize("sampling", ["node", "edge", "any"])
def test_complements_drawn_together_are_complements_and_differ(sampling, graph, logits):
    """A training draws for several epochs at once; each must be a set of its own."""
    clar = CLAR(alpha=0.0, sampling=sampling, samples=2)
    draw = torch.Generator().manual_seed(0)
    present = dense(graph.pattern).bool()
    seen = []
    for _ in range(70):  # more than are drawn at once
        laplacian = clar._fresh_complement(graph, torch.float64, draw)
        pairs = dense(laplacian.pattern)
        alone = Laplacian.of(laplacian.pattern, torch.float64)
        assert torch.allclose(laplacian @ logits.detach(), alone @ logits.detach())
        assert torch.equal(pairs, pairs.t()) and not pairs.diagonal().any()
        assert sampling == "any" or not (pairs.bool() & present).any()
        seen.append(tuple(pairs.flatten().tolist()))
    assert len(set(seen)) > 60


def test_another_graph_gets_a_complement_of_its_own(graph):
    clar = CLAR(alpha=0.0, samples=20)
    draw = torch.Generator().manual_seed(0)
    clar.penalty(torch.randn(NODES, 2), graph, draw)
    ends = torch.combinations(torch.arange(NODES)).t()
    complete = Adjacency.of(ends, NODES).symmetrised
    assert clar.penalty(torch.randn(NODES, 2), complete, draw).values.item() == 0


def test_weights_of_zero_cost_nothing_and_draw_nothing(graph, logits):
    draw = torch.Generator().manual_seed(0)
    state = draw.get_state()
    assert CLAR(alpha=0.0, beta=0.0).penalty(logits, graph, draw) is None
    assert torch.equal(draw.get_state(), state)


def test_nl_is_clar_without_its_complement(graph, logits):
    clar = CLAR(alpha=2.0, beta=0.0, clamp=None, reduction="trace").penalty(logits, graph)
    lasso = NL(alpha=2.0, clamp=None, reduction="trace").penalty(logits, graph)
    assert clar.names == lasso.names == ("ori",)
    assert torch.equal(clar.loss, lasso.loss)


# P-reg.


def test_preg_equals_its_dense_formula(graph, logits):
    smooth = graph.derived(smoothing, torch.float64).to_dense() @ logits
    squared = 0.3 * (smooth - logits).square().sum() / (2 * NODES)
    entropy = -0.3 * (logits.softmax(1) * smooth.softmax(1).log()).sum(1).mean()
    for form, expected in (("squared", squared), ("ce", entropy)):
        penalty = PReg(weight=0.3, form=form).penalty(logits, graph)
        assert torch.allclose(penalty.loss, expected)
        assert penalty.values.item() == pytest.approx(expected.item() / 0.3)
        (mine,) = torch.autograd.grad(penalty.loss, logits, retain_graph=True)
        (theirs,) = torch.autograd.grad(expected, logits, retain_graph=True)
        assert torch.allclose(mine, theirs)


# MADReg.


def orders(graph: Adjacency) -> Tensor:
    """Shortest-path lengths; unreachable pairs get a large number."""
    adjacency = dense(graph.pattern) + torch.eye(graph.num_nodes, dtype=torch.float64)
    reached = torch.eye(graph.num_nodes, dtype=torch.float64)
    length = torch.full((graph.num_nodes, graph.num_nodes), 1000)
    for step in range(graph.num_nodes):
        length[(reached > 0) & (length == 1000)] = step
        reached = (adjacency @ reached > 0).double()
    return length


def dense_mad(h: Tensor, mask: Tensor) -> Tensor:
    cosine = torch.nn.functional.cosine_similarity(h[:, None], h[None], dim=2)
    rows = mask.any(1)
    return (((1 - cosine) * mask).sum(1)[rows] / mask.sum(1)[rows]).mean()


@pytest.mark.parametrize(("near", "remote"), [(3, 8), (1, 3), (2, 4)])
def test_madreg_equals_its_dense_formula(near, remote, graph, logits):
    length = orders(graph)
    with torch.no_grad():  # remote nodes point elsewhere, so that the gap is not clamped
        logits[:, 0] += 3 * (length[0] <= near)
    gap = dense_mad(logits, length >= remote) - dense_mad(logits, (length >= 1) & (length <= near))
    assert gap > 0
    madreg = MadReg(weight=0.6, clamp=None, near=near, remote=remote)
    penalty = madreg.penalty(logits, graph)
    assert penalty.values.item() == pytest.approx(gap.item())
    expected = -0.6 * gap.clamp(min=0)
    assert torch.allclose(penalty.loss, expected)
    (mine,) = torch.autograd.grad(penalty.loss, logits)
    (theirs,) = torch.autograd.grad(expected, logits)
    assert torch.allclose(mine, theirs)
    facts = madreg.facts(graph)
    pairs = NODES * (NODES - 1)
    assert facts["remote_share"] == pytest.approx((length >= remote).sum().item() / pairs)


def test_a_negative_gap_has_a_gradient_only_without_a_clamp(graph, logits):
    """Near nodes differ more than remote ones: the gap is to grow, also from below zero."""
    length = orders(graph)
    near, remote = (length >= 1) & (length <= 3), length >= 8
    gap = dense_mad(logits, remote) - dense_mad(logits, near)
    assert gap < 0
    free, held = (MadReg(weight=0.6, clamp=c).penalty(logits, graph) for c in (None, 1.0))
    assert free.values.item() == held.values.item() == pytest.approx(gap.item())
    assert torch.allclose(free.loss, -0.6 * gap)
    (mine,) = torch.autograd.grad(free.loss, logits)
    (theirs,) = torch.autograd.grad(-0.6 * gap, logits)
    assert torch.allclose(mine, theirs) and mine.any()
    assert free.limits[0] < gap < free.limits[1]
    assert held.loss.item() == 0 and not torch.autograd.grad(held.loss, logits)[0].any()


def test_orders_are_found_across_blocks_of_nodes():
    """A ring of 1300 nodes: 6 near partners each, and all but 15 are remote."""
    ring = torch.stack([torch.arange(1300), (torch.arange(1300) + 1) % 1300])
    facts = MadReg().facts(Adjacency.of(ring, 1300).symmetrised)
    assert facts["near_share"] == pytest.approx(6 / 1299)
    assert facts["remote_share"] == pytest.approx((1299 - 14) / 1299)


def test_sampled_partners_come_near_the_exact_mean(monkeypatch):
    torch.manual_seed(0)
    pairs = torch.randint(0, 300, (2, 600))
    h = torch.randn(300, 4) + torch.tensor([1.0, 0, 0, 0])

    def gap() -> float:
        return MadReg(clamp=None).penalty(h, Adjacency.of(pairs, 300).symmetrised).values.item()

    exact = gap()
    monkeypatch.setattr(partners, "PAIR_BUDGET", 300 * 32)
    drawn = gap()
    assert drawn != exact
    assert drawn == gap()
    assert drawn == pytest.approx(exact, abs=0.03)


def test_no_remote_pair_is_reported_and_inactive():
    triangle = Adjacency.of(torch.tensor([[0, 1, 2], [1, 2, 0]]), 3).symmetrised
    assert MadReg().facts(triangle)["remote_share"] == 0
    penalty = MadReg().penalty(torch.randn(3, 2), triangle)
    assert penalty.values.item() <= 0
    assert penalty.loss == 0


# DropEdge.


def test_dropedge_drops_pairs_evenly_and_in_both_directions():
    ring = torch.stack([torch.arange(4000), (torch.arange(4000) + 1) % 4000])
    graph = Adjacency.of(ring, 4000).symmetrised
    thin = DropEdge(rate=0.3).epoch_graph(graph, torch.Generator().manual_seed(0))
    assert len(thin.pattern.indices) / len(graph.pattern.indices) == pytest.approx(0.7, abs=0.03)
    source, target = thin.edge_index
    assert Adjacency.of(thin.edge_index, 4000).symmetric
    everything = {(a, b) for a, b in graph.edge_index.t().tolist()}
    assert set(zip(source.tolist(), target.tolist(), strict=True)) <= everything


def test_dropedge_renormalises_with_the_degrees_that_are_left():
    graph = Adjacency.of(torch.tensor([[0, 1], [1, 2]]), 3).symmetrised
    keep = torch.tensor([True, False])
    thin = graph.thinned(keep).derived(smoothing, torch.float32).to_dense()
    assert torch.allclose(thin, torch.tensor([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]))


# AdaGraph.


def sure(classes: list[int], confidence: float = 10.0) -> Tensor:
    return confidence * torch.nn.functional.one_hot(torch.tensor(classes)).float()


def test_adagraph_drops_edges_between_classes_and_adds_them_within():
    path = Adjacency.of(torch.tensor([[0, 1, 2], [1, 2, 3]]), 4).symmetrised
    draw = torch.Generator().manual_seed(0)
    mended = AdaGraph(n_add=10, n_drop=10).rewired(path, sure([0, 0, 1, 0]), draw)
    pairs = {(a, b) for a, b in mended.edge_index.t().tolist()}
    assert pairs == {(0, 1), (1, 0), (0, 3), (3, 0), (1, 3), (3, 1)}


def test_adagraph_keeps_to_its_counts_and_thresholds():
    torch.manual_seed(0)
    graph = Adjacency.of(torch.randint(0, 60, (2, 150)), 60).symmetrised
    classes = [node % 3 for node in range(60)]
    draw = torch.Generator().manual_seed(0)
    before = graph.pairs[1]
    added = AdaGraph(n_add=7, n_drop=0).rewired(graph, sure(classes), draw)
    assert added.pairs[1] == before + 7
    dropped = AdaGraph(n_add=0, n_drop=5).rewired(graph, sure(classes), draw)
    assert dropped.pairs[1] == before - 5
    unsure = AdaGraph(t_add=0.999, t_drop=0.999).rewired(graph, sure(classes, 1.0), draw)
    assert torch.equal(unsure.edge_index, graph.edge_index)


def test_adagraph_drops_the_most_confident_first():
    star = Adjacency.of(torch.tensor([[0, 0, 0], [1, 2, 3]]), 4).symmetrised
    logits = torch.tensor([[9.0, 0], [0, 3.0], [0, 6.0], [0, 4.0]])
    penalty = AdaGraph(n_add=0, n_drop=1, t_drop=0.5)
    left = penalty.rewired(star, logits, torch.Generator().manual_seed(0))
    assert left.edge_index[:, left.edge_index[0] == 0].tolist() == [[0, 0], [1, 3]]


# One suite for all.


DRAWING = ("clar", "dropedge")
"""Those that draw anew in every epoch."""


@pytest.mark.parametrize("name", REGULARIZERS)
def test_every_regularizer_conforms(name):
    check_regularizer(name, random=name in DRAWING, without_edges=True)


@pytest.mark.parametrize("name", REGULARIZERS)
def test_only_penalties_have_a_gradient(name, graph, logits):
    value = REGULARIZERS[name]()(logits, graph.edge_index)
    assert (value.grad_fn is not None) == (name in PENALTIES)


@pytest.mark.parametrize("name", PENALTIES)
def test_gradients_are_right_in_double_precision(name, graph, logits):
    penalty = REGULARIZERS[name]()
    with torch.no_grad():  # near nodes alike: a gap of MADReg between its clamps
        logits[:, 0] += 1.2 * (orders(graph)[0] <= 3)

    def value(h: Tensor) -> Tensor:
        torch.manual_seed(5)
        return penalty(0.1 * h, graph.edge_index)

    assert torch.autograd.grad(value(logits), logits)[0].abs().sum() > 0
    assert torch.autograd.gradcheck(value, (logits,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", REGULARIZERS)
def test_any_floating_type_is_taken(name, dtype, graph):
    torch.manual_seed(0)
    h = torch.randn(NODES, 3).to(dtype).requires_grad_()
    penalty = REGULARIZERS[name]()(h, graph.edge_index)
    assert penalty.isfinite()
    if penalty.requires_grad:
        penalty.backward()
        assert h.grad.dtype == dtype and h.grad.isfinite().all()


@pytest.mark.parametrize("name", REGULARIZERS)
def test_directions_doubles_and_loops_do_not_matter(name, graph, logits):
    source, target = graph.edge_index
    once = graph.edge_index[:, source < target]
    loops = torch.arange(NODES).repeat(2, 1)
    values = []
    for edges in (graph.edge_index, once, torch.cat([once, once, loops], dim=1)):
        torch.manual_seed(1)
        values.append(REGULARIZERS[name]()(logits, edges).item())
    assert values[0] == values[1] == values[2]


def test_a_changed_graph_is_noticed(logits):
    penalty = NL(clamp=None)
    edges = torch.tensor([[0, 1], [1, 2]])
    before = penalty(logits, edges)
    assert torch.equal(before, penalty(logits, edges))
    edges[1, 1] = 3
    assert not torch.equal(before, penalty(logits, edges))


@pytest.mark.parametrize("name", PENALTIES)
def test_any_use_in_a_model_works(name, logits):
    """Copies, strided logits, other numbers of nodes, inference, and node numbers out of range."""
    penalty = REGULARIZERS[name]()
    edges = torch.tensor([[0, 1], [1, 2]])
    first = penalty(logits, edges)
    assert penalty(logits.t().contiguous().t(), edges).isfinite()
    assert first.isfinite() and penalty(logits[:5], edges).isfinite()
    assert copy.deepcopy(penalty)(logits, edges).isfinite()
    with torch.inference_mode():
        assert penalty(logits.detach(), edges.clone()).isfinite()
    for wrong in ([[0], [NODES]], [[-1], [2]]):
        with pytest.raises(ClarTuneError, match="edge_index: node numbers from 0 to 13"):
            penalty(logits, torch.tensor(wrong))


def test_adagraph_finds_the_few_pairs_that_are_left():
    """A complete graph of 30 alike nodes without 20 edges gets those 20."""
    torch.manual_seed(0)
    ends = torch.combinations(torch.arange(30)).t()
    missing = ends[:, torch.randperm(ends.shape[1])[20:]]
    graph = Adjacency.of(missing, 30).symmetrised
    draw = torch.Generator().manual_seed(0)
    logits = sure([0] * 29 + [1])
    logits[29] = logits[0]
    assert AdaGraph(n_add=20).rewired(graph, logits, draw).pairs[1] == ends.shape[1]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("clar", {"sampling": "nodes"}),
        ("clar", {"reduction": "mean"}),
        ("clar", {"clamp": 0}),
        ("clar", {"samples": 0}),
        ("clar", {"samples": 1.5}),
        ("clar", {"alpha": "much"}),
        ("clar", {"beta": float("nan")}),
        ("nl", {"clamp": -1}),
        ("preg", {"form": "kl"}),
        ("madreg", {"near": 0}),
        ("madreg", {"remote": 3}),
        ("dropedge", {"rate": 1.0}),
        ("adagraph", {"order": "add"}),
        ("adagraph", {"t_add": 2.0}),
        ("adagraph", {"rounds": 0}),
    ],
)
def test_impossible_values_are_refused_by_name(name, wrong):
    with pytest.raises(ClarTuneError, match=next(iter(wrong))):
        REGULARIZERS[name](**wrong)
