"""Variants of graphs: dropped edges, single frequency bands, filters to be learned."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import torch

from clar_tune.errors import ClarTuneError, ParameterError
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.loading import load
from clar_tune.graphs.spectrum import Spectrum, laplacian, spectrum_of
from clar_tune.graphs.variants import (
    BANDS,
    FILTERS,
    apply_variants,
    check_size,
    metric_of,
    parameters_of,
    signals,
    variant_of,
    varied_hash,
)
from clar_tune.models.complement import Complement
from clar_tune.models.tensors import TensorGraph


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load("csbm-homophily")


@pytest.fixture
def _own_cache(cache) -> None:
    """Spectra are kept in a folder of the test."""


def pairs_of(graph: Graph) -> set[tuple[int, int]]:
    return {(int(min(e)), int(max(e))) for e in graph.edges.T}


# Dropped edges.


def test_what_is_dropped_at_a_lower_rate_is_dropped_at_a_higher_one(graph):
    everything = pairs_of(graph)
    left = [pairs_of(apply_variants(graph, {"drop_edges": k / 10}, seed=3)) for k in range(10)]
    assert left[0] == everything
    for k, (more, fewer) in enumerate(zip(left, left[1:], strict=False), start=1):
        assert fewer < more
        assert len(fewer) == len(everything) - round(k / 10 * len(everything))


def test_edges_are_dropped_in_both_directions_and_all_else_stays(graph):
    dropped = apply_variants(graph, {"drop_edges": 0.4}, seed=0)
    assert dropped.is_symmetric
    assert dropped.features is graph.features and dropped.labels is graph.labels
    directed = replace(graph, edges=graph.edges[:, ::2])
    kept = set(map(tuple, apply_variants(directed, {"drop_edges": 0.4}, seed=0).edges.T.tolist()))
    assert kept < set(map(tuple, directed.edges.T.tolist()))


def test_a_run_draws_its_own_edges_once(graph):
    first, again, other = (apply_variants(graph, {"drop_edges": 0.3}, seed) for seed in (0, 0, 1))
    assert pairs_of(first) == pairs_of(again) != pairs_of(other)
    assert first.hash == again.hash != other.hash


def test_no_dropped_edges_is_the_graph_itself(graph):
    assert apply_variants(graph, {"drop_edges": 0}, seed=0) is graph
    assert apply_variants(graph, {}, seed=0) is graph


@pytest.mark.parametrize("sampling", ["node", "edge"])
def test_the_sampler_of_the_complement_sees_only_the_dropped_graph(tiny_graph, sampling):
    dropped = apply_variants(tiny_graph, {"drop_edges": 0.5}, seed=0)
    gone = pairs_of(tiny_graph) - pairs_of(dropped)
    adjacency = TensorGraph.of(dropped).adjacency
    pattern = Complement(adjacency).sample(sampling, 64, torch.Generator().manual_seed(0))
    drawn = set(zip(pattern.rows.tolist(), pattern.indices.tolist(), strict=True))
    ends = {node for pair in pairs_of(dropped) for node in pair}
    reachable = {pair for pair in gone if sampling == "node" or ends & set(pair)}
    assert reachable and reachable <= drawn
    assert not drawn & pairs_of(dropped)


# Bands.


@pytest.mark.usefixtures("_own_cache")
def test_bands_sum_to_the_features(graph):
    parts = [
        apply_variants(graph, {"band": band}, seed=0).features for band in range(1, BANDS + 1)
    ]
    assert all(part.dtype == np.float32 for part in parts)
    assert np.abs(sum(parts) - graph.features.toarray()).max() < 1e-6


@pytest.mark.usefixtures("_own_cache")
def test_a_band_holds_its_tenth_of_the_frequencies(graph):
    n, values = graph.num_nodes, spectrum_of(graph).values
    matrix = laplacian(graph)
    for band in (1, 5, 10):
        x = apply_variants(graph, {"band": band}, seed=0).features.astype(np.float64)
        assert np.linalg.matrix_rank(x, tol=1e-4) <= n // BANDS
        quotient = np.trace(x.T @ (matrix @ x)) / np.square(x).sum()
        mine = values[(band - 1) * n // BANDS : band * n // BANDS]
        assert mine[0] - 1e-4 <= quotient <= mine[-1] + 1e-4


# Filters.


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("name", FILTERS)
def test_filters_equal_a_dense_computation(name, graph):
    found = apply_variants(graph, {"filter": name}, seed=0)
    shifted = laplacian(graph).toarray() - np.eye(graph.num_nodes) * (name.startswith("band"))
    bump = scipy.linalg.expm(-10 * shifted @ shifted)  # exp(-10 L^2) or exp(-10 (L - I)^2)
    response = bump if name in ("low-pass", "band-pass") else np.eye(graph.num_nodes) - bump
    assert np.abs(found.targets - response @ found.features).max() < 1e-4
    assert (found.metric, found.num_outputs) == ("mse", found.features.shape[1])
    assert found.truth is found.targets


def test_signals_are_principal_components_of_presence_with_unit_variance(graph):
    found = signals(graph)
    assert found.shape == (graph.num_nodes, 32)
    assert np.abs(found.mean(axis=0)).max() < 1e-4
    assert np.abs(found.std(axis=0) - 1).max() < 1e-4
    present = (graph.features.toarray() > 0).astype(np.float64)
    u, _, _ = np.linalg.svd(present - present.mean(axis=0), full_matrices=False)
    overlap = np.abs(np.diag(u[:, :32].T @ found)) / np.sqrt(graph.num_nodes)
    assert overlap.min() > 0.999


def test_signals_do_not_outnumber_what_the_features_tell(tiny_graph):
    assert signals(tiny_graph).shape == (8, 4)
    twice = replace(tiny_graph, features=sp.csr_array(np.tile(tiny_graph.features.todense(), 3)))
    assert signals(twice).shape[1] <= 5


# Hashes, and what decides them.


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"drop_edges": 0},
        {"drop_edges": 0.3},
        {"band": 3},
        {"filter": "low-pass", "drop_edges": 0.2},
    ],
)
def test_the_hash_of_a_variant_is_known_before_it_is_made(graph, variant):
    assert varied_hash(graph.hash, variant, 5) == apply_variants(graph, variant, 5).hash


def test_every_variant_has_a_hash_of_its_own(graph):
    variants = [
        {"drop_edges": 0.1},
        {"drop_edges": 0.2},
        {"band": 1},
        {"band": 2},
        {"filter": "low-pass"},
        {"filter": "high-pass"},
        {"drop_edges": 0.1, "band": 1},
    ]
    hashes = {graph.hash, *(apply_variants(graph, variant, seed=0).hash for variant in variants)}
    assert len(hashes) == len(variants) + 1
    band, elsewhere = (apply_variants(graph, {"band": 1}, seed) for seed in (0, 1))
    assert band.hash == elsewhere.hash  # nothing is drawn


@pytest.mark.usefixtures("_own_cache")
def test_a_hash_tells_the_graph_and_the_recipe_not_the_last_digit_of_an_eigenvector(graph):
    def blurred(of: Graph) -> Spectrum:
        values, vectors = np.linalg.eigh(laplacian(of).toarray())
        return Spectrum(values, (vectors * (1 + 1e-7)).astype(np.float32))

    found, again = (
        apply_variants(graph, {"band": 3}, 0),
        apply_variants(graph, {"band": 3}, 0, blurred),
    )
    other = replace(graph, labels=1 - graph.labels)
    assert found.hash == again.hash != apply_variants(other, {"band": 3}, 0).hash


def test_drops_come_before_frequencies(graph):
    seen = []

    def watched(of: Graph) -> Spectrum:
        seen.append(of)
        return Spectrum(np.zeros(of.num_nodes), np.eye(of.num_nodes, dtype=np.float32))

    apply_variants(graph, {"filter": "low-pass", "drop_edges": 0.5}, 0, watched)
    assert pairs_of(seen[0]) == pairs_of(apply_variants(graph, {"drop_edges": 0.5}, 0))


# What is refused, and how conditions are read.


@pytest.mark.parametrize(
    ("variant", "problem"),
    [
        ({"drop_edges": 1.0}, r"drop_edges: a number in \[0, 1\) is needed, got 1.0"),
        ({"drop_edges": "half"}, "drop_edges: a number"),
        ({"band": 0}, "band: a whole number from 1 to 10 is needed, got 0"),
        ({"band": 2.5}, "band: a whole number"),
        ({"filter": "highpass"}, "Did you mean 'high-pass'"),
        ({"drop_nodes": 0.1}, "variant"),
        ({"filter": "low-pass", "band": 1}, "filter and band: both replace the features"),
    ],
)
def test_senseless_variants_are_refused(variant, problem, tiny_graph):
    with pytest.raises(ClarTuneError, match=problem):
        apply_variants(tiny_graph, variant, seed=0)


def test_graphs_too_large_for_all_frequencies_are_refused_by_name():
    check_size({"drop_edges": 0.5}, "pubmed", 19_717)
    with pytest.raises(ParameterError, match=r"band: pubmed has 19,717 nodes.*up to 8,000"):
        check_size({"drop_edges": 0.5, "band": 1}, "pubmed", 19_717)


def test_a_condition_falls_into_variants_and_parameters():
    condition = {"drop_edges": 0.3, "layers": 8}
    assert variant_of(condition) == {"drop_edges": 0.3}
    assert parameters_of(condition) == {"layers": 8}
    assert metric_of({"drop_edges": 0.3}, "roc_auc") == "roc_auc"
    assert metric_of({"drop_edges": 0.3, "filter": "low-pass"}, "accuracy") == "mse"


# Real graphs.


def test_bands_and_filters_of_texas(data_folder, cache):
    texas = load("texas", data=data_folder)
    total = sum(apply_variants(texas, {"band": band}, 0).features for band in range(1, BANDS + 1))
    assert np.abs(total - texas.features.toarray()).max() < 1e-6
    low, high = (apply_variants(texas, {"filter": name}, 0) for name in ("low-pass", "high-pass"))
    assert np.abs(low.targets + high.targets - low.features).max() < 1e-4
    assert low.hash != high.hash
