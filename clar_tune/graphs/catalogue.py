"""The graphs by name: where their files lie, what they must contain, what to know about them."""

from dataclasses import dataclass
from typing import NamedTuple

from clar_tune.errors import UnknownName
from clar_tune.rows import GraphFacts

NOTES = {
    "directed": "edges have directions in the file; the default preprocessing drops them",
    "leaky": "duplicated nodes leak from training to test; see its filtered twin",
    "same nodes as texas": "features and labels are texas's, only the edges differ",
    "synthetic": "generated, needs no download; never stands in for a real graph",
}


class Source(NamedTuple):
    """Where the raw files of a graph are: below a data folder, and upstream."""

    pyg_class: str | None  # of torch_geometric.datasets, where there is one
    folder: str  # as torch-geometric lays it out below its root
    files: tuple[str, ...]
    upstream: str  # what the origin calls the graph


class Facts(NamedTuple):
    """What a graph contains as loaded, before preprocessing; an edge is (source, target)."""

    nodes: int
    edges: int
    features: int
    classes: int
    homophily: float  # fraction of edges within a class, three decimals
    hash: str


class Loaded(NamedTuple):
    """What the time of a training depends on besides, so that a plan needs no files."""

    entries: int  # of the features that are not zero
    undirected: int | None = None  # edges with both directions, where that changes their number


@dataclass(frozen=True, slots=True)
class Dataset:
    """One row of the table of graphs; a graph without a source is generated."""

    source: Source | None
    facts: Facts
    notes: tuple[str, ...] = ()
    metric: str = "accuracy"
    loaded: Loaded | None = None


def base_name(name: str) -> str:
    """The graph that ``name`` is a version of: ``cornell`` for ``cornell@1a2b3c4d``."""
    return name.partition("@")[0]


TWINS = {
    "cornell": "texas",
    "chameleon-filtered": "chameleon",
    "squirrel-filtered": "squirrel",
}
"""Graphs that share nodes with another: tests across graphs count them once."""


def known_facts(name: str) -> GraphFacts:
    """What a run's manifest says of a graph; of one that is not listed here, nothing."""
    dataset = DATASETS.get(base_name(name))
    return GraphFacts(
        notes=dataset.notes if dataset else (),
        counts_as=TWINS.get(base_name(name), base_name(name)),
        generated=dataset is not None and dataset.source is None,
    )


def dataset_named(name: str) -> Dataset:
    """The row of ``NAME`` or ``NAME@hash``."""
    if base_name(name) not in DATASETS:
        raise UnknownName("graph", base_name(name), DATASETS)
    return DATASETS[base_name(name)]


def _planetoid(title: str) -> Source:
    parts = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
    name = title.lower()
    return Source("Planetoid", f"{title}/raw", tuple(f"ind.{name}.{part}" for part in parts), name)


def _shchur(pyg_class: str, title: str, upstream: str) -> Source:
    return Source(pyg_class, f"{title}/raw", (f"{upstream}.npz",), upstream)


def _geom_gcn(pyg_class: str, folder: str, upstream: str) -> Source:
    splits = tuple(f"{upstream}_split_0.6_0.2_{number}.npz" for number in range(10))
    files = ("out1_node_feature_label.txt", "out1_graph_edges.txt", *splits)
    return Source(pyg_class, folder, files, upstream)


def _heterophilous(pyg_class: str | None, title: str, upstream: str) -> Source:
    return Source(pyg_class, f"{title}/raw", (f"{title}.npz",), upstream)


DATASETS = {
    "cora": Dataset(
        _planetoid("Cora"),
        Facts(2_708, 10_556, 1_433, 7, 0.810, "c4743e28a4e4c8e4"),
        loaded=Loaded(49_216),
    ),
    "citeseer": Dataset(
        _planetoid("CiteSeer"),
        Facts(3_327, 9_104, 3_703, 6, 0.736, "811f7da01ba473c8"),
        loaded=Loaded(105_165),
    ),
    "pubmed": Dataset(
        _planetoid("PubMed"),
        Facts(19_717, 88_648, 500, 3, 0.802, "0abd7696865fca12"),
        loaded=Loaded(988_031),
    ),
    "computers": Dataset(
        _shchur("Amazon", "Computers", "amazon_electronics_computers"),
        Facts(13_752, 491_722, 767, 10, 0.777, "2ba361b62e5c42d0"),
        loaded=Loaded(3_675_081),
    ),
    "photo": Dataset(
        _shchur("Amazon", "Photo", "amazon_electronics_photo"),
        Facts(7_650, 238_162, 745, 8, 0.827, "aea7a55f617d9138"),
        loaded=Loaded(1_979_909),
    ),
    "cs": Dataset(
        _shchur("Coauthor", "CS", "ms_academic_cs"),
        Facts(18_333, 163_788, 6_805, 15, 0.808, "a8ba44a733aea61f"),
        loaded=Loaded(1_092_079),
    ),
    "physics": Dataset(
        _shchur("Coauthor", "Physics", "ms_academic_phy"),
        Facts(34_493, 495_924, 8_415, 5, 0.931, "05bd074539b782ae"),
        loaded=Loaded(1_137_311),
    ),
    "actor": Dataset(
        _geom_gcn("Actor", "actor/raw", "film"),
        Facts(7_600, 30_019, 932, 5, 0.219, "8ae713b10f2710fa"),
        loaded=Loaded(40_977, 53_318),
        notes=("directed",),
    ),
    "chameleon": Dataset(
        _geom_gcn("WikipediaNetwork", "chameleon/geom_gcn/raw", "chameleon"),
        Facts(2_277, 36_101, 2_325, 5, 0.235, "ba429f75c3aca08f"),
        loaded=Loaded(29_157, 62_742),
        notes=("directed", "leaky"),
    ),
    "squirrel": Dataset(
        _geom_gcn("WikipediaNetwork", "squirrel/geom_gcn/raw", "squirrel"),
        Facts(5_201, 217_073, 2_089, 5, 0.224, "aef8941a49600846"),
        loaded=Loaded(93_477, 396_706),
        notes=("directed", "leaky"),
    ),
    "cornell": Dataset(
        _geom_gcn("WebKB", "cornell/raw", "cornell"),
        Facts(183, 298, 1_703, 5, 0.305, "91e647ea0eed7e8d"),
        loaded=Loaded(15_266, 554),
        notes=("directed", "same nodes as texas"),
    ),
    "texas": Dataset(
        _geom_gcn("WebKB", "texas/raw", "texas"),
        Facts(183, 325, 1_703, 5, 0.108, "d969f5cb91db0c49"),
        loaded=Loaded(15_266, 558),
        notes=("directed",),
    ),
    "chameleon-filtered": Dataset(
        _heterophilous(None, "chameleon_filtered", "chameleon_filtered"),
        Facts(890, 17_708, 2_325, 5, 0.236, "315495f08f0faf5f"),
        loaded=Loaded(9_903),
    ),
    "squirrel-filtered": Dataset(
        _heterophilous(None, "squirrel_filtered", "squirrel_filtered"),
        Facts(2_223, 93_996, 2_089, 5, 0.207, "28384399ce5d4e6a"),
        loaded=Loaded(32_481),
    ),
    "cornell-corrected": Dataset(
        _heterophilous(None, "cornell_corrected", "cornell"),
        Facts(183, 554, 1_703, 5, 0.123, "543b263180ab60b6"),
        loaded=Loaded(17_240),
    ),
    "minesweeper": Dataset(
        _heterophilous("HeterophilousGraphDataset", "minesweeper", "minesweeper"),
        Facts(10_000, 78_804, 7, 2, 0.683, "a6c3fa4fee3d2f13"),
        loaded=Loaded(10_000),
        metric="roc_auc",
    ),
    "tolokers": Dataset(
        _heterophilous("HeterophilousGraphDataset", "tolokers", "tolokers"),
        Facts(11_758, 1_038_000, 10, 2, 0.595, "3497f509a908dae2"),
        loaded=Loaded(61_101),
        metric="roc_auc",
    ),
    "csbm-homophily": Dataset(
        None,
        Facts(600, 4_690, 240, 4, 0.796, "777b0ee4d2586857"),
        loaded=Loaded(7_240),
        notes=("synthetic",),
    ),
    "csbm-heterophily": Dataset(
        None,
        Facts(600, 4_880, 240, 4, 0.170, "55861663630c14fe"),
        loaded=Loaded(8_383),
        notes=("synthetic",),
    ),
}
