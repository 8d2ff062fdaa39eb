"""Sizes of graphs by the catalogue are those of the graphs."""

from dataclasses import replace

import pytest

from clar_tune.graphs import DATASETS, apply_variants, load, locate
from clar_tune.search.probe import _no_spectrum
from clar_tune.search.sizes import Size


@pytest.mark.parametrize("name", [n for n, row in DATASETS.items() if row.source is None])
def test_a_generated_graph_is_as_large_as_the_catalogue_says(name):
    assert Size.known(name, "undirected") == Size.of(load(name))


@pytest.mark.parametrize("name", [n for n, row in DATASETS.items() if row.source is not None])
def test_a_real_graph_is_as_large_as_the_catalogue_says(name, data_folder):
    if locate(name, data_folder) is None:
        pytest.skip(f"{name} is not in CLAR_TUNE_DATA")
    assert Size.known(name, "undirected") == Size.of(load(name, data=data_folder))
    released, told = Size.of(load(name, "released", data_folder)), Size.known(name, "released")
    assert told.edges == pytest.approx(released.edges, rel=0.06)


def test_another_version_of_a_graph_counts_as_large_as_the_one_that_is_known():
    assert Size.known("cora@12345678", "undirected") == Size.known("cora", "undirected")


@pytest.mark.parametrize("variant", [{"drop_edges": 0.5}, {"band": 3}, {"filter": "low-pass"}, {}])
def test_the_size_of_a_variant_is_known_without_making_it(variant):
    graph = load("csbm-homophily")
    made = Size.of(apply_variants(graph, variant, 0, decompose=_no_spectrum))
    told = Size.of(graph).varied(variant)
    assert told.edges == pytest.approx(made.edges, rel=0.01)
    assert (told.nodes, told.features, told.entries, told.outputs) == (
        made.nodes,
        made.features,
        made.entries,
        made.outputs,
    )
    assert told.dense == ("drop_edges" not in variant and bool(variant))


def test_a_graph_that_was_added_with_its_facts_alone_has_a_size(monkeypatch):
    monkeypatch.setitem(DATASETS, "mine", replace(DATASETS["texas"], loaded=None))
    size = Size.known("mine", "undirected")
    assert (size.nodes, size.edges, size.entries) == (183, 325, 183 * 1703)
