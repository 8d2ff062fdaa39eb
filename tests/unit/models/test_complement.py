import pytest
import torch
from hypothesis import given, strategies as st
from scipy.stats import chisquare

import clar_tune.models.complement
from clar_tune.errors import ParameterError, UnknownName
from clar_tune.models.adjacency import Adjacency
from clar_tune.models.complement import SAMPLINGS, Complement


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, torch.Tensor]:
    """Any small graph, directed edges, self-loops, doubles and full nodes included."""
    nodes = draw(st.integers(2, 12))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=4 * nodes))
    return nodes, torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()


def joined(nodes: int, edges: torch.Tensor) -> torch.Tensor:
    dense = torch.zeros(nodes, nodes, dtype=torch.bool)
    dense[edges[0], edges[1]] = True
    return (dense | dense.t()).fill_diagonal_(False)


def drawn(pattern) -> torch.Tensor:
    return pattern.filled(torch.ones(len(pattern.indices))).to_dense()


@given(graphs(), st.sampled_from(["node", "edge"]), st.integers(1, 4), st.booleans())
def test_never_an_edge_a_loop_or_more_than_asked(graph, sampling, samples, with_map):
    nodes, edges = graph
    limit = clar_tune.models.complement.MAP_BYTES if with_map else 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clar_tune.models.complement, "MAP_BYTES", limit)
        adjacency = Adjacency.of(edges, nodes)
        pattern = Complement(adjacency).sample(sampling, samples)
    pairs, present = drawn(pattern), joined(nodes, edges)
    assert not (pairs.bool() & present).any()
    assert not pairs.diagonal().any()
    assert torch.equal(pairs, pairs.t())
    assert pairs.max() <= 1
    degree = present.sum(1)
    free = degree < nodes - 1
    draws = samples * (degree if sampling == "edge" else torch.ones_like(degree)) * free
    assert len(pattern.indices) <= 2 * draws.sum()
    if sampling == "node":  # every node that has a choice is part of some pair
        assert torch.equal(pairs.sum(1) > 0, free)


@given(graphs(), st.integers(1, 4))
def test_any_draws_neighbours_too_but_never_oneself(graph, samples):
    nodes, edges = graph
    pairs = drawn(Complement(Adjacency.of(edges, nodes)).sample("any", samples))
    assert not pairs.diagonal().any()
    assert (pairs.sum(1) >= 1).all()


@pytest.mark.parametrize("with_map", [True, False])
def test_draws_are_uniform_over_what_remains(monkeypatch, with_map):
    """Node 0 of a star plus a path can draw exactly the nodes 3 to 6, each as often."""
    if not with_map:
        monkeypatch.setattr(clar_tune.models.complement, "MAP_BYTES", 0)
    edges = torch.tensor([[0, 0, 4, 5], [1, 2, 5, 6]])
    complement = Complement(Adjacency.of(edges, 7))
    draw = torch.Generator().manual_seed(0)
    rounds = 4000
    found = torch.zeros(7)
    for _ in range(rounds):
        pattern = complement.sample("node", 1, draw)
        found += drawn(pattern)[0]
    # A pair {0, v} also comes from v's own draw. Degrees 0: 2, 3: 0, 4: 1, 5: 2, 6: 1.
    own = 1 / torch.tensor([4.0, 6, 5, 4, 5])
    chance = 1 - (1 - own[0]) * (1 - own[1:])
    assert found[:3].tolist() == [0, 0, 0]
    expected = (rounds * chance).tolist()
    scale = found[3:].sum().item() / sum(expected)
    assert scale == pytest.approx(1, abs=0.03)
    assert chisquare(found[3:].tolist(), [scale * value for value in expected]).pvalue > 1e-3


def test_edge_sampling_draws_in_proportion_to_degree():
    """The hub of a star with 4 leaves among 40 nodes draws 4 times, a leaf once."""
    edges = torch.tensor([[0, 0, 0, 0], [1, 2, 3, 4]])
    complement = Complement(Adjacency.of(edges, 40))
    draw = torch.Generator().manual_seed(0)
    counts = torch.stack([drawn(complement.sample("edge", 1, draw)).sum(1) for _ in range(300)])
    assert counts.sum(1).max() <= 2 * 8  # 2 S |E| draws, each in both directions
    mean = counts.mean(0)
    assert mean[0] > 3.5
    assert 0.9 < mean[1:5].mean() < 1.5


def test_the_same_generator_gives_the_same_pairs():
    edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
    complement = Complement(Adjacency.of(edges, 30))
    first, second = (
        complement.sample("edge", 3, torch.Generator().manual_seed(5)) for _ in range(2)
    )
    assert first.equals(second)
    assert not first.equals(complement.sample("edge", 3, torch.Generator().manual_seed(6)))


def test_a_complete_graph_has_no_complement():
    ends = torch.combinations(torch.arange(5)).t()
    complement = Complement(Adjacency.of(ends, 5))
    for sampling in ("node", "edge"):
        assert len(complement.sample(sampling, 2).indices) == 0


def test_bad_requests_are_named():
    complement = Complement(Adjacency.of(torch.tensor([[0], [1]]), 3))
    with pytest.raises(UnknownName, match=r"nodes.*Did you mean 'node'"):
        complement.sample("nodes", 1)
    with pytest.raises(ParameterError, match="samples.*from 1.*got 0"):
        complement.sample("node", 0)
    assert set(SAMPLINGS) == {"node", "edge", "any"}
