"""Arrays of a user's own graph, checked: whatever does not fit is one clear error."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clar_tune.errors import GraphError, UnknownName
from clar_tune.graphs.graph import FixedSplits, Graph, canonical, merge_duplicates
from clar_tune.metric import METRICS

PARTS = ("train", "val", "test")
MASKS = tuple(f"{part}_mask" for part in PARTS)
FIELDS = ("x", "edge_index", "y", *MASKS)
"""What a graph is made of, under torch-geometric's names."""

UNBALANCED = 1 / 3
"""Two classes are judged by ROC AUC if the smaller one has less than this share of the nodes."""


def own_graph(name: str, arrays: Mapping[str, Any], metric: str | None = None) -> Graph:
    """The raw graph of some arrays.

    Args:
        name: how it is called, in errors too.
        arrays: ``x`` [N, F], dense or sparse; ``edge_index`` [2, E] or [E, 2], each edge listed in
            one direction or in both; ``y`` [N], classes numbered from 0; and, if all three are
            given, ``train_mask``, ``val_mask`` and ``test_mask``: [N], or for several splits
            [N, splits] or [splits, N].
        metric: ``accuracy`` or ``roc_auc``; chosen by the labels if none is given.
    """
    with _about(name):
        for field, what in (("x", "features"), ("edge_index", "edges"), ("y", "labels")):
            if arrays.get(field) is None:
                raise GraphError(f"there are no {what} ({field}). Add them.")
        labels = _labels(np.asarray(arrays["y"]))
        return Graph(
            name=name,
            features=_features(arrays["x"], len(labels)),
            edges=_edges(np.asarray(arrays["edge_index"]), len(labels)),
            labels=labels,
            metric=_metric(metric, labels),
            fixed=_splits(arrays, len(labels)),
        )


def arrays_of(graph: Graph) -> dict[str, Any]:
    """The arrays that :func:`own_graph` makes the same graph of."""
    fixed = graph.fixed
    masks = {} if fixed is None else {f"{part}_mask": getattr(fixed, part) for part in PARTS}
    return {"x": graph.features, "edge_index": graph.edges, "y": graph.labels, **masks}


@contextmanager
def _about(name: str) -> Iterator[None]:
    try:
        yield
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from None


def _labels(y: NDArray[Any]) -> NDArray[np.int64]:
    if y.ndim == 2 and y.shape[1] == 1:  # as in OGB
        y = y[:, 0]
    if y.ndim != 1 or not len(y):
        raise GraphError(f"labels (y) have the shape {list(y.shape)}, [nodes] is needed.")
    if y.dtype.kind not in "iub":
        raise GraphError(
            f"labels (y) are {y.dtype}: classes are whole numbers. Write y.astype(int)."
        )
    if y.min() < 0:
        raise GraphError(
            f"labels (y) reach down to {y.min()}: every node needs a class, numbered from 0. "
            "Leave out nodes without one."
        )
    classes = np.unique(y)
    if not np.array_equal(classes, np.arange(len(classes))):
        raise GraphError(
            f"labels (y) are {_first(classes)}: classes are numbered from 0 without a gap. "
            "Write y = np.unique(y, return_inverse=True)[1]."
        )
    if len(classes) < 2:
        raise GraphError("all labels (y) are 0: there must be two classes at least.")
    return y.astype(np.int64)


def _features(x: Any, count: int) -> sp.csr_array:
    matrix = x if sp.issparse(x) else np.asarray(x)
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise GraphError(
            f"features (x) have the shape {list(matrix.shape)}, [nodes, features] is needed."
        )
    if matrix.shape[0] != count:
        raise GraphError(
            f"features (x) have {matrix.shape[0]} rows, and there are {count} labels (y): one of "
            "each per node is needed."
        )
    if matrix.dtype.kind not in "fiub":
        raise GraphError(f"features (x) are {matrix.dtype}: numbers are needed.")
    found = canonical(sp.csr_array(matrix, copy=True))
    wrong = int((~np.isfinite(found.data)).sum())
    if wrong:
        raise GraphError(f"features (x): {wrong} of them are not finite. Replace those.")
    return found


def _edges(edges: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Edges [2, E] of an array in either form."""
    shape = list(edges.shape)
    if shape == [2, 2]:
        raise GraphError(
            "edges (edge_index) have the shape [2, 2], which is [2, E] as well as [E, 2]: list "
            "each edge in both directions."
        )
    if edges.ndim != 2 or 2 not in shape:
        raise GraphError(f"edges (edge_index) have the shape {shape}, [2, E] or [E, 2] is needed.")
    if edges.dtype.kind not in "iu":
        raise GraphError(
            f"edges (edge_index) are {edges.dtype}: numbers of nodes are whole. Write "
            "edge_index.astype(int)."
        )
    if not edges.size:
        raise GraphError("edges (edge_index): there are none.")
    low, high = int(edges.min()), int(edges.max())
    if low < 0 or high >= count:
        raise GraphError(
            f"edges (edge_index) go from node {low} to node {high}, and the {count} nodes are "
            f"numbered 0 to {count - 1}."
        )
    both = edges if shape[0] == 2 else edges.T
    return merge_duplicates(both.astype(np.int64), count)


def _splits(arrays: Mapping[str, Any], count: int) -> FixedSplits | None:
    """The masks, one column for each split; none unless all three are there."""
    given = [arrays.get(name) for name in MASKS]
    if any(mask is None for mask in given):
        return None
    masks = [_mask(n, np.asarray(mask), count) for n, mask in zip(MASKS, given, strict=True)]
    counts = [mask.shape[1] for mask in masks]
    if len(set(counts)) > 1:
        told = ", ".join(f"{name} has {n}" for name, n in zip(MASKS, counts, strict=True))
        raise GraphError(f"the masks are for different numbers of splits: {told}.")
    for split, parts in enumerate(np.stack(masks).transpose(2, 0, 1)):
        _check_parts(split, parts)
    return FixedSplits(*masks)


def _mask(name: str, mask: NDArray[Any], count: int) -> NDArray[np.bool_]:
    """A mask [N, splits] of an array in any form."""
    shape = list(mask.shape)
    if mask.ndim == 1 and len(mask) == count:
        mask = mask[:, None]
    elif shape == [count, count]:
        raise GraphError(f"{name} has the shape {shape}: which of both are the nodes is not told.")
    elif mask.ndim == 2 and shape[1] == count:
        mask = mask.T
    if mask.ndim != 2 or len(mask) != count or not mask.shape[1]:
        raise GraphError(
            f"{name} has the shape {shape}, and there are {count} nodes: [{count}], "
            f"[{count}, splits] or [splits, {count}] is needed."
        )
    if mask.dtype.kind not in "iub" or not np.isin(mask, (0, 1)).all():
        raise GraphError(f"{name} is no mask: true or false, 1 or 0, is needed for each node.")
    return mask.astype(np.bool_)


def _check_parts(split: int, parts: NDArray[np.bool_]) -> None:
    """Refuse a split whose parts overlap, or that lacks one; ``parts`` [3, N]."""
    shared = np.flatnonzero(parts.sum(axis=0) > 1)
    if len(shared):
        node = shared[0]
        names = [name for name, part in zip(MASKS, parts, strict=True) if part[node]]
        more = f", as are {len(shared) - 1} more" if len(shared) > 1 else ""
        raise GraphError(
            f"split {split}: node {node} is in {' and '.join(names)}{more}. A node may be in one."
        )
    for name, part in zip(MASKS, parts, strict=True):
        if not part.any():
            raise GraphError(f"split {split}: {name} holds no node.")


def _metric(given: str | None, labels: NDArray[np.int64]) -> str:
    """The metric that is given, or the one that suits the labels."""
    shares = np.bincount(labels) / len(labels)
    if given is None:
        return "roc_auc" if len(shares) == 2 and shares.min() < UNBALANCED else "accuracy"
    allowed = [name for name, metric in METRICS.items() if metric.higher_is_better]
    if given not in allowed:
        raise GraphError(str(UnknownName("metric", given, allowed)))
    if given == "roc_auc" and len(shares) != 2:
        raise GraphError(f"metric roc_auc needs two classes, and there are {len(shares)}.")
    return given


def _first(values: NDArray[Any]) -> str:
    told = ", ".join(map(str, values[:5]))
    return f"{told} …" if len(values) > 5 else told
