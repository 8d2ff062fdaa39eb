"""The forms for GPUs on a CPU: the same graphs, numbers and gradients, and no read too many."""

from collections import Counter

import pytest
import torch
from scipy.stats import chisquare
from support.host_reads import HostReads
from torch import Tensor

from clar_tune.graphs import load, search_nodes
from clar_tune.models import BACKBONES, CLAR, REGULARIZERS, Method, TensorGraph, device_forms
from clar_tune.models.adjacency import Adjacency, averaging, normalised, smoothing
from clar_tune.models.complement import SAMPLINGS, Complement
from clar_tune.models.regularizers.energy import (
    REDUCTIONS,
    DoubledLaplacian,
    Laplacian,
    energies,
    laplacian_of,
)
from clar_tune.models.sparse import Pattern
from clar_tune.training import train
from clar_tune.training.objectives import Classification

PATH_AND_STAR = torch.tensor([[0, 0, 0, 1, 4, 5, 6, 0], [1, 2, 3, 2, 5, 6, 7, 7]])
CASES = [
    *((backbone, name, {}) for backbone in BACKBONES for name in REGULARIZERS),
    *(("gcn", "clar", {"sampling": sampling, "samples": 3}) for sampling in SAMPLINGS),
    *(("gcn", "clar", {"reduction": reduction}) for reduction in REDUCTIONS),
    ("gcn", "preg", {"form": "ce"}),
]


@pytest.fixture(scope="module")
def graph():
    return load("csbm-homophily")


def small(symmetric: bool = True) -> Adjacency:
    edges = PATH_AND_STAR
    return Adjacency.of(torch.cat([edges, edges.flip(0)], dim=1) if symmetric else edges, 9)


def dense(pattern: Pattern, values: Tensor | None = None) -> Tensor:
    ones = torch.ones(len(pattern.indices))
    return pattern.filled(ones if values is None else values).to_dense()


@pytest.mark.parametrize(("backbone", "regularizer", "params"), CASES)
def test_an_epoch_waits_for_what_early_stopping_needs(graph, backbone, regularizer, params):
    """Losses and terms in one read; another for the score of an epoch that is the best so far."""
    method = Method(backbone, regularizer)
    spec = method.spec(graph, {"dropout": 0.5, **params}, "random-60-20-20", (0, 1), max_epochs=45)
    nodes = search_nodes(graph, spec.protocol, spec.split_seed)
    reads, after, losses = HostReads(), [], []

    def report(epoch: int, loss: float, score: float) -> None:
        after.append(reads.counts.copy())
        losses.append(loss)

    with device_forms(), reads:
        train(spec, TensorGraph.of(graph), nodes, report)
    first_round = list(zip(after[:45], losses[:45], strict=True))
    assert sum(after[0].values()) > 0  # what is prepared once may be read
    best = losses[0]
    for (before, _), (now, loss) in zip(first_round, first_round[1:], strict=False):
        scored = {"__int__": 1} if loss < best else {}
        assert now - before == Counter({"tolist": 1, **scored})
        best = min(best, loss)


def test_a_score_of_ranks_is_one_read():
    reads = HostReads()
    from clar_tune.training.scores import roc_auc

    with reads:
        roc_auc(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([1, 0]))
    assert sum(reads.counts[name] for name in ("cpu", "item", "tolist")) == 1


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("copies", [1, 3])
def test_pairs_that_were_drawn_twice_count_once(sampling, copies):
    complement = Complement(small())
    draw = torch.Generator().manual_seed(0)
    pattern, first = complement.doubled_sample(sampling, 3, draw, copies)
    pairs = dense(pattern, first.float())
    assert not first.all()  # or nothing is shown
    assert torch.equal(pairs, (dense(pattern) > 0).float())
    assert torch.equal(pairs, pairs.t())
    joined = torch.block_diag(*[dense(complement.graph.pattern)] * copies)
    assert sampling == "any" or not (pairs * joined).any()
    assert not pairs.diagonal().any()
    again = Pattern.symmetric(*pairs.nonzero().t().int(), copies * 9)
    doubled = DoubledLaplacian.of_first(pattern, first, torch.float64)
    h = torch.randn(copies * 9, 4, dtype=torch.float64)
    torch.testing.assert_close(doubled @ h, Laplacian.of(again, torch.float64) @ h)
    parts = [
        block @ part for block, part in zip(doubled.blocks(copies), h.chunk(copies), strict=True)
    ]
    torch.testing.assert_close(torch.cat(parts), doubled @ h)


def test_exact_draws_are_as_uniform_as_those_by_the_map():
    """Node 0 of a star plus a path can draw exactly the nodes 3 to 6, each as often."""
    complement = Complement(Adjacency.of(torch.tensor([[0, 0, 4, 5], [1, 2, 5, 6]]), 7))
    pattern, first = complement.doubled_sample("node", 1, torch.Generator().manual_seed(0), 4000)
    pairs = [dense(each, mark.float()) for each, mark in blocks_of(pattern, first, 4000)]
    found = sum(each[0] for each in pairs)
    own = 1 / torch.tensor([4.0, 6, 5, 4, 5])
    expected = (4000 * (1 - (1 - own[0]) * (1 - own[1:]))).tolist()
    assert found[:3].tolist() == [0, 0, 0]
    scale = found[3:].sum().item() / sum(expected)
    assert scale == pytest.approx(1, abs=0.03)
    assert chisquare(found[3:].tolist(), [scale * value for value in expected]).pvalue > 1e-3


def blocks_of(pattern: Pattern, first: Tensor, count: int):
    return zip(pattern.blocks(count, alike=True), first.chunk(count), strict=True)


def test_nobody_to_draw():
    whole = Adjacency.of(torch.tensor([[0, 0, 1], [1, 2, 2]]), 3)
    with device_forms():
        h = torch.randn(3, 2, requires_grad=True)
        draw = torch.Generator().manual_seed(0)
        penalty = CLAR(alpha=0.0).penalty(h, whole.symmetrised, draw)
    assert penalty is not None
    assert penalty.loss == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("clamp", [None, 1.0, 0.01])
def test_energies_and_their_gradients_are_the_same(reduction, clamp):
    graph, found = small(), []
    h = torch.randn(9, 3, generator=torch.Generator().manual_seed(1))
    doubled = Complement(graph).doubled_sample("node", 2, torch.Generator().manual_seed(2))
    pairs = dense(doubled[0]) > 0
    complements = (
        Laplacian.of(Pattern.symmetric(*pairs.nonzero().t().int(), 9), torch.float32),
        DoubledLaplacian.of_first(*doubled, torch.float32),
    )
    for complement, forms in zip(complements, (False, True), strict=True):
        signal = h.clone().requires_grad_()
        laplacians = [complement, laplacian_of(graph, torch.float32)]
        with device_forms() if forms else torch.enable_grad():
            loss, values = energies(signal, laplacians, (-0.7, 1.3), reduction, clamp)
            (3 * loss).backward()
        found.append((loss.detach(), values, signal.grad))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("matrix", [smoothing, normalised, averaging])
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_masked_graph_has_the_matrices_of_a_thinned_one(matrix, symmetric):
    graph = small(symmetric)
    keep = torch.arange(graph.pairs[1]) % 3 > 0
    with device_forms():
        masked = graph.thinned_for_an_epoch(keep)
    thinned = graph.thinned(keep)
    assert len(masked.pattern.indices) > len(thinned.pattern.indices)
    one, other = matrix(masked, torch.float64), matrix(thinned, torch.float64)
    torch.testing.assert_close(one.to_dense(), other.to_dense())
    torch.testing.assert_close(one.transposed.to_dense(), other.to_dense().t())
    assert torch.equal(masked.edge_index, thinned.edge_index)
    assert masked.symmetrised.pattern.equals(thinned.symmetrised.pattern)
    fewer = torch.arange(thinned.pairs[1]) > 0
    assert masked.thinned(fewer).pattern.equals(thinned.thinned(fewer).pattern)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_every_backbone_sees_the_same_in_a_masked_graph(graph, backbone):
    tensors = TensorGraph.of(graph)
    keep = torch.arange(tensors.adjacency.pairs[1]) % 2 > 0
    with device_forms():
        masked = tensors.adjacency.thinned_for_an_epoch(keep)
    torch.manual_seed(0)
    model, found = Method(backbone).build_model(tensors, {"hidden": 8}), []
    for adjacency in (masked, tensors.adjacency.thinned(keep)):
        model.zero_grad()
        logits = model(tensors, adjacency)
        logits.square().sum().backward()
        found.append([logits.detach(), *(weight.grad.clone() for weight in model.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4 * float(other.abs().max()))


def test_losses_of_rows_are_those_of_an_image(graph):
    tensors, nodes = TensorGraph.of(graph), search_nodes(graph, "random-60-20-20", 0)
    outputs = torch.randn(graph.num_nodes, graph.num_outputs)
    image = Classification(tensors, nodes)
    with device_forms():
        rows = Classification(tensors, nodes)
    for loss in ("train_loss", "val_loss"):
        one, other = (getattr(each, loss)(each.read(outputs)) for each in (rows, image))
        torch.testing.assert_close(one, other)
