"""What regularizers add: the same terms, activity and trajectories as in the torch path."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.engines import SameSamples, generated, halves, run_both, spec_of

from clar_tune.engine import ArrayGraph, task_of, train
from clar_tune.engine.compiling import called
from clar_tune.engine.operator import thin
from clar_tune.engine.randomness import EDGES, key_of
from clar_tune.errors import Diverged
from clar_tune.graphs import Graph, partners
from clar_tune.models import TensorGraph
from clar_tune.models.regularizers.clar import CLAR
from clar_tune.models.regularizers.dropedge import DropEdge
from clar_tune.training import train as torch_train

NODES = 60


def check(both) -> None:
    """Losses, terms and their activity are the same."""
    record, penalty = both.fit.record, both.prepared.task.penalty
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)
    assert both.prepared.terms == tuple(record.terms)
    for place, term in enumerate(record.terms.values()):
        assert penalty.best[place] == pytest.approx(term.value, rel=1e-4, abs=1e-8)
        assert penalty.active[place] / both.outcome.epochs == pytest.approx(term.active)
    for count in ("active", "above", "zero"):
        most = getattr(penalty, count).max(initial=0) / both.outcome.epochs
        shown = getattr(record, f"penalty_{count}")
        assert most == (0 if shown is None else pytest.approx(shown)), count


@pytest.mark.parametrize("reduction", ["node-mean", "trace", "released"])
@pytest.mark.parametrize("clamp", [None, 0.02, 1.0])
def test_network_lasso(reduction, clamp):
    graph = generated()
    weight = 0.01 if reduction == "trace" else 0.5
    spec = spec_of(graph, "gcn+nl", alpha=weight, reduction=reduction, clamp=clamp)
    check(run_both(spec, graph))


@pytest.mark.parametrize("sampling", ["node", "edge", "any"])
@pytest.mark.parametrize("reduction", ["node-mean", "released"])
@pytest.mark.parametrize("classes", [3, 12])
def test_clar_with_given_samples(sampling, reduction, classes, monkeypatch):
    graph = generated(classes=classes)
    params = {"alpha": 0.3, "beta": -0.2, "samples": 2, "sampling": sampling, "clamp": None}
    spec = spec_of(graph, "gcn+clar", **params, reduction=reduction)
    samples = SameSamples(spec, graph)
    monkeypatch.setattr(CLAR, "_fresh_complement", lambda clar, *given: samples(clar, *given))
    check(run_both(spec, graph))
    assert samples.epoch == 20


def test_clar_on_a_directed_graph_takes_the_undirected_one(monkeypatch):
    graph = generated(directed=True)
    spec = spec_of(graph, "gcn+clar", alpha=0.3, beta=0.2, clamp=None)
    samples = SameSamples(spec, graph)
    monkeypatch.setattr(CLAR, "_fresh_complement", lambda clar, *given: samples(clar, *given))
    check(run_both(spec, graph))


@pytest.mark.parametrize("form", ["squared", "ce"])
@pytest.mark.parametrize("directed", [False, True])
def test_preg(form, directed):
    graph = generated(directed=directed, classes=10)
    check(run_both(spec_of(graph, "gcn+preg", weight=0.5, form=form), graph))


def paths(count: int, length: int) -> Graph:
    """Some paths: near nodes, remote ones, and some that cannot be reached."""
    start = np.arange(count * length).reshape(count, length)
    pairs = np.stack([start[:, :-1].ravel(), start[:, 1:].ravel()])
    rng = np.random.default_rng(5)
    return Graph(
        name="paths",
        features=sp.csr_array(rng.normal(size=(count * length, 12)).astype(np.float32)),
        edges=np.concatenate([pairs, pairs[::-1]], axis=1),
        labels=rng.integers(0, 3, count * length),
    )


@pytest.mark.parametrize("clamp", [None, 1.0, 1e-3])
@pytest.mark.parametrize("weight", [0.3, -0.3])
@pytest.mark.parametrize("graph", [paths(3, 20), generated(directed=True)], ids=["paths", "dense"])
def test_madreg(graph, weight, clamp):
    both = run_both(spec_of(graph, "gcn+madreg", weight=weight, clamp=clamp), graph)
    check(both)
    assert both.prepared.facts == pytest.approx(both.fit.record.facts)


def test_madreg_with_drawn_partners(monkeypatch):
    monkeypatch.setattr(partners, "PAIR_BUDGET", 32)
    graph = paths(4, 40)
    both = run_both(spec_of(graph, "gcn+madreg", weight=0.3, clamp=None), graph)
    check(both)


@pytest.mark.parametrize("backbone", ["gcn", "sage", "cheby", "gpr"])
@pytest.mark.parametrize("directed", [False, True])
def test_dropedge_with_given_samples(backbone, directed, monkeypatch):
    graph = generated(directed=directed)
    spec = spec_of(graph, f"{backbone}+dropedge", rate=0.4)
    task = task_of(spec, ArrayGraph.of(graph), halves(graph)).task
    key, epochs = called(key_of), iter(range(1, 100))

    def same(self, adjacency, draw):
        """The torch path's graph without the pairs that the native engine drops."""
        number, thinner = next(epochs), task.thinner.operator
        words = np.uint64(key(task.rules.seed, EDGES, number))
        called(thin)(task.network.operator, 0.4, words, thinner)
        starts = thinner.matrix.starts.astype(np.int64)
        rows = np.repeat(np.arange(NODES), np.diff(starts))
        left = set(zip(rows, thinner.matrix.columns[: starts[-1]].tolist(), strict=True))
        pattern = adjacency.pattern
        ends = zip(pattern.rows.tolist(), pattern.indices.tolist(), strict=True)
        pairs, count = adjacency.pairs
        keep = torch.zeros(count, dtype=torch.bool)
        keep[pairs] = torch.tensor([end in left for end in ends])
        return adjacency.thinned(keep)

    monkeypatch.setattr(DropEdge, "epoch_graph", same)
    check(run_both(spec, graph))


def test_dropped_pairs_go_in_both_directions_and_at_the_rate():
    graph = generated(2000)
    spec = spec_of(graph, "gcn+dropedge", rate=0.3)
    task = task_of(spec, ArrayGraph.of(graph), halves(graph)).task
    full, thinner = task.network.operator, task.thinner.operator
    shares = []
    for epoch in range(20):
        key = np.uint64(called(key_of)(np.uint64(3), EDGES, epoch))
        called(thin)(full, 0.3, key, thinner)
        pairs = full.matrix.starts[-1] - 2000
        left = thinner.matrix.starts[-1] - np.uint32(2000)  # self-loops stay
        shares.append(left / pairs)
        assert np.array_equal(thinner.matrix.starts, thinner.transposed.starts)
        entries = thinner.matrix.starts[-1]
        assert np.array_equal(
            thinner.matrix.columns[:entries], thinner.transposed.columns[:entries]
        )
    assert np.mean(shares) == pytest.approx(0.7, abs=0.005)
    assert len(set(shares)) > 10


@pytest.mark.parametrize("method", ["gcn+clar", "gcn+nl", "gcn+preg", "gcn+madreg"])
def test_weights_of_zero_give_the_plain_backbone(method):
    graph = generated()
    zero = {"alpha": 0.0, "beta": 0.0, "weight": 0.0}
    known = {"gcn+clar": ("alpha", "beta"), "gcn+nl": ("alpha",)}
    params = {name: zero[name] for name in known.get(method, ("weight",))}
    arrays, nodes = ArrayGraph.of(graph), halves(graph)
    plain = train(spec_of(graph, "gcn", dropout=0.5), arrays, nodes)
    off = train(spec_of(graph, method, dropout=0.5, **params), arrays, nodes)
    assert np.array_equal(off.logits, plain.logits)
    assert off.record.penalty_active == 0.0
    assert plain.record.penalty_active is None


def test_a_record_tells_of_the_terms():
    graph = generated()
    spec = spec_of(graph, "gcn+clar", alpha=0.1, beta=0.1, dropout=0.5, clamp=1e-9)
    record = train(spec, ArrayGraph.of(graph), halves(graph)).record
    assert list(record.terms) == ["com", "ori"]
    assert (record.penalty_active, record.penalty_above, record.penalty_zero) == (0.0, 1.0, 0.0)
    free = spec_of(graph, "gcn+clar", alpha=0.1, beta=0.1, dropout=0.5, clamp=None)
    assert train(free, ArrayGraph.of(graph), halves(graph)).record.penalty_active == 1.0


@pytest.mark.parametrize("method", ["gcn+nl", "gcn+clar", "gcn+preg"])
def test_a_penalty_that_explodes_is_refused_by_both(method):
    graph = generated()
    graph.features.data[:] *= 1e25  # squares of outputs are beyond float32
    spec = spec_of(graph, method)
    # Differences of infinities are no numbers in torch's Laplacian; here they are not taken.
    refusal = f"became (inf|nan) in epoch 1 of gcn with {spec.regularizer} on generated"
    with pytest.raises(Diverged, match=refusal):
        torch_train(spec, TensorGraph.of(graph), halves(graph))
    with pytest.raises(Diverged, match=refusal):
        train(spec, ArrayGraph.of(graph), halves(graph))


def test_an_infinite_term_is_named_also_where_a_clamp_hides_it():
    graph = generated()
    graph.features.data[:] *= 1e25
    with pytest.raises(Diverged, match="penalty ori became inf"):
        train(spec_of(graph, "gcn+nl", clamp=1.0), ArrayGraph.of(graph), halves(graph))
