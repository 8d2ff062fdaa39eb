"""What the program needs of a graph."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clar_tune.errors import ClarTuneError
from clar_tune.graphs import (
    PREPROCESSINGS,
    PROTOCOLS,
    Graph,
    check_split,
    preprocess,
    search_nodes,
    seed_pair,
    test_nodes,
)
from clar_tune.metric import METRICS
from clar_tune.testing.subject import Subject
from clar_tune.training import REGRESSION


def check_graph(graph: Graph | Callable[[], Graph], /, *, protocol: str | None = None) -> None:
    """Check that a graph is what searches need.

    Arrays have their shapes and types; features are finite, also when their rows are normalised;
    edges join nodes that exist, and each stands once in both directions when the graph is
    preprocessed; classes are numbered from 0 without a gap; training, validation and test nodes
    of each split of its own are disjoint and not empty; a protocol can divide its nodes; the hash
    is that of its content.

    Args:
        graph: the graph, raw or preprocessed; or a function that loads it, which is called twice
            and must give the same hash.
        protocol: the protocol that must fit; otherwise any is enough.

    Raises:
        AssertionError: one sentence on what was checked, on which graph, and what came out.
    """
    if not isinstance(graph, Graph):
        graph = _loaded_twice(graph)
    subject = Subject(graph.name)
    with subject.attempt():
        _check_labels(subject, graph)
        _check_features(subject, graph)
        _check_edges(subject, graph)
        _check_task(subject, graph)
        _check_fixed_splits(subject, graph)
        _check_hash(subject, graph)
        _check_preprocessing(subject, graph)
        _check_protocols(subject, graph, protocol)


def _loaded_twice(load: Callable[[], Graph]) -> Graph:
    subject = Subject(getattr(load, "__name__", "load"))
    with subject.attempt():
        first, second = load(), load()
        for graph in (first, second):
            subject.expect(isinstance(graph, Graph), "a Graph is needed", type(graph).__name__)
        subject.expect(
            first.hash == second.hash,
            "a graph loaded twice must have one hash",
            f"{first.hash} and {second.hash}",
        )
    return first


def _check_array(
    subject: Subject, name: str, array: Any, shape: tuple[int | None, ...], kind: type[np.generic]
) -> None:
    """``shape`` has None where any length will do."""
    lengths = "[" + ", ".join("any" if n is None else str(n) for n in shape) + "]"
    needed = f"{name} must be a numpy array {lengths} of {kind.__name__}"
    subject.expect(isinstance(array, np.ndarray), needed, type(array).__name__)
    fits = len(array.shape) == len(shape) and array.dtype == kind
    fits = fits and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    subject.expect(fits, needed, f"{list(array.shape)} of {array.dtype}")


def _check_finite(subject: Subject, name: str, values: NDArray[np.float32]) -> None:
    wrong = int((~np.isfinite(values)).sum())
    subject.expect(not wrong, f"{name} must be finite", f"{wrong} entries that are not")


def _check_labels(subject: Subject, graph: Graph) -> None:
    _check_array(subject, "labels", graph.labels, (None,), np.int64)
    subject.expect(len(graph.labels), "there must be nodes", "none")
    found = np.unique(graph.labels).tolist()
    needed = "classes must be numbered from 0 without a gap"
    subject.expect(found == list(range(len(found))), needed, f"labels {found}")


def _check_features(subject: Subject, graph: Graph) -> None:
    x: Any = graph.features
    if graph.origin and isinstance(x, np.ndarray):
        _check_array(subject, "features", x, (graph.num_nodes, None), np.float32)
        _check_finite(subject, "features", x)
        return
    needed = f"features must be a scipy csr_array [{graph.num_nodes}, any] of float32"
    subject.expect(isinstance(x, sp.csr_array), needed, type(x).__name__)
    fits = x.shape[0] == graph.num_nodes and x.dtype == np.float32
    subject.expect(fits, needed, f"{list(x.shape)} of {x.dtype}")
    subject.expect(x.shape[1], "there must be features", "none")
    subject.expect(
        x.has_canonical_format,
        "columns of features must be sorted and each stand once, so that equal features have "
        "equal hashes",
        "others: call sum_duplicates()",
    )
    _check_finite(subject, "features", x.data)


def _check_edges(subject: Subject, graph: Graph) -> None:
    _check_array(subject, "edges", graph.edges, (2, None), np.int64)
    if graph.edges.size:
        low, high = int(graph.edges.min()), int(graph.edges.max())
        needed = f"edges must join nodes from 0 to {graph.num_nodes - 1}"
        subject.expect(0 <= low <= high < graph.num_nodes, needed, f"{low} to {high}")


def _check_task(subject: Subject, graph: Graph) -> None:
    """Metric and targets fit each other and the classes."""
    metric = graph.metric
    subject.expect(metric in METRICS, f"the metric must be one of {', '.join(METRICS)}", metric)
    if graph.targets is not None:
        _check_array(subject, "targets", graph.targets, (graph.num_nodes, None), np.float32)
        _check_finite(subject, "targets", graph.targets)
    regression = graph.targets is not None
    needed = f"a graph has targets if and only if its metric is {REGRESSION}"
    got = f"{metric} {'with' if regression else 'without'} targets"
    subject.expect(regression == (metric == REGRESSION), needed, got)
    two = metric != "roc_auc" or graph.num_classes == 2
    subject.expect(two, "roc_auc needs two classes", graph.num_classes)


def _check_fixed_splits(subject: Subject, graph: Graph) -> None:
    if graph.fixed is None:
        return
    masks = {"train": graph.fixed.train, "val": graph.fixed.val, "test": graph.fixed.test}
    for name, mask in masks.items():
        _check_array(subject, f"{name} masks", mask, (graph.num_nodes, None), np.bool_)
    counts = [mask.shape[1] for mask in masks.values()]
    subject.expect(
        counts[0] and len(set(counts)) == 1,
        "there must be equally many train, val and test masks",
        counts,
    )
    for number in range(counts[0]):
        parts = {name: np.flatnonzero(mask[:, number]) for name, mask in masks.items()}
        _check_parts(subject, f"split {number}", parts)


def _check_parts(subject: Subject, split: str, parts: dict[str, NDArray[np.int64]]) -> None:
    sizes = ", ".join(f"{len(nodes)} {name}" for name, nodes in parts.items())
    needed = f"{split} must have training, validation and test nodes"
    subject.expect(all(map(len, parts.values())), needed, sizes)
    nodes, times = np.unique(np.concatenate(list(parts.values())), return_counts=True)
    shared = nodes[times > 1]
    subject.expect(
        not len(shared),
        f"training, validation and test nodes of {split} must be disjoint",
        f"{len(shared)} that are in two of them, such as node {next(iter(shared), None)}",
    )


def _check_hash(subject: Subject, graph: Graph) -> None:
    """The hash is the same for a copy; another for another content, unless an origin names it."""
    copied = replace(graph, edges=graph.edges.copy(), labels=graph.labels.copy())
    subject.expect(
        copied.hash == graph.hash, f"a copy must have the hash {graph.hash}", copied.hash
    )
    if graph.origin:
        return
    labels = (graph.labels + 1) % (graph.num_classes + 1)
    others = {
        "features": replace(graph, features=2 * graph.features + _one(graph)),
        "edges": replace(graph, edges=np.concatenate([graph.edges, [[0], [0]]], axis=1)),
        "labels": replace(graph, labels=labels),
    }
    blind = [name for name, other in others.items() if other.hash == graph.hash]
    needed = "the hash must be another for other content"
    subject.expect(not blind, needed, f"the same for other {' and '.join(blind)}")


def _one(graph: Graph) -> sp.csr_array:
    """A matrix of the features' shape whose first entry is 1."""
    return sp.csr_array(([np.float32(1)], ([0], [0])), shape=graph.features.shape)


def _check_preprocessing(subject: Subject, graph: Graph) -> None:
    known = ("raw", *PREPROCESSINGS)
    needed = f"preprocessing must be one of {', '.join(known)}"
    subject.expect(graph.preprocessing in known, needed, graph.preprocessing)
    ready_graphs = [graph]
    if graph.preprocessing == "raw":
        with np.errstate(over="ignore"):  # what overflows is told below
            ready_graphs = [preprocess(graph, name) for name in PREPROCESSINGS]
    for ready in ready_graphs:
        when = f"preprocessed as {ready.preprocessing}"
        values = ready.features if isinstance(ready.features, np.ndarray) else ready.features.data
        _check_finite(subject, f"features {when}", values)
        loops = int((ready.edges[0] == ready.edges[1]).sum())
        subject.expect(not loops, f"{when} it must have no self-loops", loops)
        numbers = np.sort(ready.edges[0] * ready.num_nodes + ready.edges[1])
        twice = int((np.diff(numbers) == 0).sum())
        subject.expect(not twice, f"{when} it must list each edge once", f"{twice} more")
        both = ready.preprocessing != "undirected" or ready.is_symmetric
        subject.expect(both, f"{when} each edge must stand in both directions", "some in one only")


def _check_protocols(subject: Subject, graph: Graph, protocol: str | None) -> None:
    """One is enough: an unbalanced graph, say, cannot be divided by all of them."""
    held_out = graph.targets is None
    fitting = [
        name
        for name, known in PROTOCOLS.items()
        if known.held_out == held_out and known.applies_to(graph.name)
    ]
    names = fitting if protocol is None else [protocol]
    refusals = [_refusal(subject, graph, name) for name in names]
    needed = f"its nodes must be divided by {' or '.join(names)}"
    subject.expect("" in refusals, needed, "; ".join(refusals))


def _refusal(subject: Subject, graph: Graph, protocol: str) -> str:
    """Why a protocol does not fit; empty if it does."""
    try:
        check_split(graph, protocol)
        if PROTOCOLS[protocol].held_out:
            split_seed, _ = seed_pair(graph.name, protocol, 0, 0, "repeat")
            nodes = search_nodes(graph, protocol, split_seed)
            test = test_nodes(graph, protocol, split_seed)
            parts = {"train": nodes.train, "val": nodes.val, "test": test}
            _check_parts(subject, f"a split by {protocol}", parts)
    except (AssertionError, ClarTuneError) as error:
        return str(error).rstrip(".")
    return ""
