"""Which nodes train, validate and, for finals only, test: the protocols and their seeds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clar_tune.errors import GraphError, ParameterError, UnknownName
from clar_tune.graphs.graph import FixedSplits, Graph
from clar_tune.seeds import seed_for

Nodes = NDArray[np.int64]
Draw = Callable[[Nodes, int, Nodes], tuple[NDArray[np.bool_], NDArray[np.bool_]]]

PURPOSES = ("repeat", "final")


@dataclass(frozen=True)
class SearchNodes:
    """The nodes that a search may see, sorted."""

    train: Nodes
    val: Nodes


def search_nodes(
    graph: Graph, protocol: str, split_seed: int, outer_test: float = 0.0
) -> SearchNodes:
    """The training and validation nodes of one split.

    ``split_seed`` seeds a drawn split and numbers a fixed one. With ``outer_test`` the
    protocol divides only the nodes that are not withheld.
    """
    train, val, _ = _split(graph, protocol, split_seed, outer_test)
    return SearchNodes(train, val)


def test_nodes(graph: Graph, protocol: str, split_seed: int, outer_test: float = 0.0) -> Nodes:
    """The test nodes of one split, sorted; with ``outer_test`` the withheld nodes only."""
    return _split(graph, protocol, split_seed, outer_test)[2]


def seed_pair(
    graph_name: str, protocol: str, seed: int, index: int, purpose: str
) -> tuple[int, int]:
    """The (split_seed, init_seed) of repeat or final number ``index`` of a run.

    No method or condition enters: all of them meet the same pairs. Fixed splits are taken in
    turn, always with a fresh init seed.
    """
    check_protocol(graph_name, protocol)
    if purpose not in PURPOSES:
        raise UnknownName("purpose", purpose, PURPOSES)
    identity = (_base(graph_name), protocol, seed, purpose, index)
    fixed = PROTOCOLS[protocol].fixed
    split_seed = index % fixed if fixed else seed_for("split", *identity)
    return split_seed, seed_for("init", *identity)


def check_protocol(graph_name: str, protocol: str) -> None:
    """Refuse a protocol that is not defined for a graph; ``NAME@hash`` counts as ``NAME``."""
    if protocol not in PROTOCOLS:
        raise UnknownName("protocol", protocol, PROTOCOLS)
    if not PROTOCOLS[protocol].applies_to(graph_name):
        fitting = [name for name, other in PROTOCOLS.items() if other.applies_to(graph_name)]
        raise ParameterError(
            f"protocol {protocol} is not defined for {graph_name}, only for "
            f"{', '.join(PROTOCOLS[protocol].graphs)}. "
            f"Protocols of {graph_name}: {', '.join(fitting)}."
        )


def check_split(graph: Graph, protocol: str, outer_test: float = 0.0) -> None:
    """Refuse a protocol that leaves a graph no nodes to train on, or none to be judged by.

    ROC AUC is judged by nodes of both classes. Of an unbalanced graph a balanced split trains
    on all nodes of the small class.
    """
    split_seed, _ = seed_pair(graph.name, protocol, 0, 0, "repeat")
    nodes = search_nodes(graph, protocol, split_seed, outer_test)
    if not len(nodes.train) or not len(nodes.val):
        withheld = f" with {outer_test:g} of all nodes withheld" if outer_test else ""
        less = " or withhold fewer by --outer-test" if outer_test else ""
        raise ParameterError(
            f"protocol {protocol}{withheld}: {len(nodes.train)} nodes of {graph.name} would train "
            f"and {len(nodes.val)} validate. Choose another protocol{less}."
        )
    if graph.metric == "roc_auc" and len(np.unique(graph.labels[nodes.val])) < 2:
        others = [
            name
            for name, other in PROTOCOLS.items()
            if name != protocol and other.held_out and other.applies_to(graph.name)
        ]
        raise ParameterError(
            f"protocol {protocol}: all validation nodes of {graph.name} are of one class, and "
            f"its metric, ROC AUC, needs both. Choose {' or '.join(others)}."
        )


def _balanced(
    labels: Nodes, classes: int, again: Nodes
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    train = _rank_in_class(labels) < 3 * len(labels) // (5 * classes)
    # Those left of a small class stand late in the order: the rest is shuffled once more.
    rest = again[~train[again]]
    val = np.zeros_like(train)
    val[rest[: len(labels) // 5]] = True
    return train, val


def _random(
    labels: Nodes, classes: int, again: Nodes
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    rank, sixty, twenty = np.arange(len(labels)), 3 * len(labels) // 5, len(labels) // 5
    return rank < sixty, (rank >= sixty) & (rank < sixty + twenty)


def _coauthor(
    labels: Nodes, classes: int, again: Nodes
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    rank = _rank_in_class(labels)
    return rank < 20, (rank >= 20) & (rank < 50)


@dataclass(frozen=True)
class Protocol:
    """How nodes are divided, and on which graphs.

    ``draw`` gets the labels of all nodes in random order, the number of classes and another
    random order of the nodes, and marks training and validation nodes; the rest tests. Without
    it the splits come with the graph.
    """

    definition: str
    graphs: tuple[str, ...] = ()  # none named: all
    draw: Draw | None = None
    fixed: int = 0  # splits that come with the graph
    held_out: bool = True  # whether some nodes are kept from training
    uniform: bool = False  # whether class shares of its sets differ by chance alone

    @property
    def units(self) -> str:
        """What differences between methods are independent over.

        ``split``: splits are drawn, each final has a fresh one. ``file``: there are several that
        come with the graph; seeds are averaged within each, and more finals add seeds only.
        ``seed``: there is one, and all that is said is conditional on it.
        """
        return "split" if self.draw else "file" if self.fixed > 1 else "seed"

    def applies_to(self, graph_name: str) -> bool:
        """Whether the protocol is defined for a graph."""
        return not self.graphs or _base(graph_name) in self.graphs


PROTOCOLS = {
    "balanced-60-20-20": Protocol(
        "per class int(0.6 N / C) training nodes, or all the class has; "
        "int(0.2 N) validation nodes; the rest tests",
        draw=_balanced,
    ),
    "random-60-20-20": Protocol(
        "int(0.6 N) training and int(0.2 N) validation nodes, uniformly drawn; the rest tests",
        draw=_random,
        uniform=True,
    ),
    "planetoid": Protocol("the public split", ("cora", "citeseer", "pubmed"), fixed=1),
    "coauthor-20-30": Protocol(
        "20 training and 30 validation nodes per class; the rest tests",
        ("cs", "physics"),
        draw=_coauthor,
    ),
    "geom-gcn": Protocol(
        "the ten split files",
        ("actor", "chameleon", "squirrel", "cornell", "texas"),
        fixed=10,
    ),
    "fixed-10": Protocol(
        "the ten splits in the file",
        ("chameleon-filtered", "squirrel-filtered", "minesweeper", "tolokers"),
        fixed=10,
    ),
    "whole-graph": Protocol(
        "all nodes train, validate and test alike: no held-out nodes",
        fixed=1,
        held_out=False,
    ),
}


def _split(
    graph: Graph, protocol: str, split_seed: int, outer_test: float
) -> tuple[Nodes, Nodes, Nodes]:
    check_protocol(graph.name, protocol)
    draw = PROTOCOLS[protocol].draw
    if draw is None:
        return _fixed_split(graph, protocol, split_seed, outer_test)
    if split_seed < 0:
        raise ParameterError(f"split_seed={split_seed}: choose 0 or more.")
    kept, withheld = _withhold(graph, outer_test)
    order = kept[_shuffled(len(kept), split_seed)]
    again = _shuffled(len(kept), seed_for("rest", split_seed))
    train, val = draw(graph.labels[order], graph.num_classes, again)
    test = withheld if outer_test else np.sort(order[~train & ~val])
    return np.sort(order[train]), np.sort(order[val]), test


def _fixed_split(
    graph: Graph, protocol: str, number: int, outer_test: float
) -> tuple[Nodes, Nodes, Nodes]:
    count = PROTOCOLS[protocol].fixed
    if outer_test:
        raise ParameterError(
            f"outer_test={outer_test}: {protocol} comes with its own test nodes. "
            "Leave it at 0, or choose a protocol that draws its splits."
        )
    if not 0 <= number < count:
        raise ParameterError(f"split_seed={number}: {protocol} has the splits 0 to {count - 1}.")
    if not PROTOCOLS[protocol].held_out:
        everyone = np.arange(graph.num_nodes)
        return everyone, everyone, everyone
    splits = _splits_of(graph, protocol)
    masks = (splits.train, splits.val, splits.test)
    train, val, test = (np.flatnonzero(mask[:, number]) for mask in masks)
    return train, val, test


def _splits_of(graph: Graph, protocol: str) -> FixedSplits:
    expected, found = PROTOCOLS[protocol].fixed, graph.fixed.count if graph.fixed else 0
    if graph.fixed is None or found != expected:
        raise GraphError(
            f"{graph.name} comes with {found} splits, {protocol} needs {expected}. "
            "Load it by its name, or choose a protocol that draws its splits."
        )
    return graph.fixed


def _withhold(graph: Graph, outer_test: float) -> tuple[Nodes, Nodes]:
    """The nodes kept and withheld; the same for every split of every run on a graph."""
    if not 0 <= outer_test < 1:
        raise ParameterError(f"outer_test={outer_test}: choose a fraction from 0 to below 1.")
    count = int(outer_test * graph.num_nodes)
    if outer_test and not count:
        raise ParameterError(
            f"outer_test={outer_test} withholds none of the {graph.num_nodes} nodes of "
            f"{graph.name}. Choose at least {1 / graph.num_nodes:.2g}."
        )
    order = _shuffled(graph.num_nodes, seed_for("outer-test", _base(graph.name)))
    return np.sort(order[count:]), np.sort(order[:count])


def _shuffled(count: int, seed: int) -> Nodes:
    # By random keys: random() is less likely than permutation() to change with numpy.
    draw = np.random.Generator(np.random.PCG64(seed))
    return np.argsort(draw.random(count), kind="stable")


def _rank_in_class(labels: Nodes) -> Nodes:
    """How many nodes of its class stand before each node."""
    by_class = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[by_class], labels[by_class])
    rank = np.empty_like(by_class)
    rank[by_class] = np.arange(len(labels)) - first
    return rank


def _base(graph_name: str) -> str:
    return graph_name.partition("@")[0]
