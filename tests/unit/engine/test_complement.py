"""Draws from the complement: absent pairs, uniform, each once and in both directions."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from support.engines import generated

from clar_tune.engine import ArrayGraph
from clar_tune.engine.arrays import csr_of
from clar_tune.engine.compiling import called
from clar_tune.engine.complement import ANY, EDGE, NODE, draw_complement, draws_of
from clar_tune.engine.randomness import COMPLEMENT, key_of


def drawn(adjacency: sp.csr_array, sampling: int, samples: int, epoch: int) -> sp.csr_array:
    """The pattern of one epoch."""
    adjacency.sort_indices()
    nodes = adjacency.shape[0]
    most = samples * (adjacency.nnz if sampling == EDGE else nodes)
    draws = draws_of(nodes, most)
    key = np.uint64(called(key_of)(np.uint64(8), COMPLEMENT, epoch))
    called(draw_complement)(csr_of(adjacency), sampling, samples, key, draws)
    starts, columns, _ = draws.pattern
    ones = np.ones(int(starts[-1]))
    pattern = sp.csr_array(
        (ones, columns[: int(starts[-1])].astype(np.int64), starts.astype(np.int64)),
        adjacency.shape,
    )
    degree = np.diff(starts.astype(np.int64))
    expected = np.divide(1, np.sqrt(degree), out=np.zeros(nodes), where=degree > 0)
    np.testing.assert_allclose(draws.roots, expected, rtol=1e-6)
    return pattern


@pytest.mark.parametrize("sampling", [NODE, EDGE])
@pytest.mark.parametrize("samples", [1, 3])
def test_only_absent_pairs_are_drawn_each_once_and_both_ways(sampling, samples):
    adjacency = ArrayGraph.of(generated()).undirected
    for epoch in range(20):
        pattern = drawn(adjacency, sampling, samples, epoch)
        dense = pattern.toarray()
        assert dense.max() <= 1  # doubles would have been summed
        assert np.array_equal(dense, dense.T)
        assert not dense.diagonal().any()
        assert not (dense * adjacency.toarray()).any()
        assert pattern.nnz > 0


@pytest.mark.parametrize("sampling", [NODE, ANY])
def test_partners_are_uniform(sampling):
    nodes = 7
    adjacency = sp.csr_array((nodes, nodes))
    for other in (2, 3, 6):
        adjacency = adjacency + sp.csr_array(([1.0], ([0], [other])), (nodes, nodes))
    adjacency = sp.csr_array(adjacency + adjacency.T)
    draws = draws_of(nodes, nodes * 1000)
    key = np.uint64(called(key_of)(np.uint64(8), COMPLEMENT, 1))
    called(draw_complement)(csr_of(adjacency), sampling, 1000, key, draws)
    of_first = np.bincount(draws.partners[:1000], minlength=nodes)
    allowed = [1, 4, 5] if sampling == NODE else [1, 2, 3, 4, 5, 6]
    assert of_first[allowed].sum() == 1000
    assert stats.chisquare(of_first[allowed]).pvalue > 1e-4


def test_whoever_is_joined_to_all_draws_nobody():
    complete = sp.csr_array(1 - np.eye(5))
    assert drawn(complete, NODE, 2, 1).nnz == 0
    assert drawn(complete, EDGE, 2, 1).nnz == 0
    assert drawn(complete, ANY, 2, 1).nnz > 0
    assert drawn(sp.csr_array((1, 1)), ANY, 2, 1).nnz == 0


def test_epochs_draw_anew():
    adjacency = ArrayGraph.of(generated()).undirected
    first, second = (drawn(adjacency, NODE, 1, epoch) for epoch in (1, 2))
    assert (first != second).nnz > 0
