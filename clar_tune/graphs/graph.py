"""A graph as plain arrays: what every training starts from."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clar_tune.errors import UnknownName

PREPROCESSINGS = ("undirected", "released")

RAW_FEATURES = ("chameleon", "squirrel")
"""Graphs whose features the code released with the paper does not normalise."""


@dataclass(frozen=True)
class FixedSplits:
    """Splits that come with a graph: one column per split."""

    train: NDArray[np.bool_]  # [N, splits]
    val: NDArray[np.bool_]  # [N, splits]
    test: NDArray[np.bool_]  # [N, splits]

    @property
    def count(self) -> int:
        """How many splits there are."""
        return int(self.train.shape[1])


@dataclass(frozen=True, eq=False)
class Graph:
    """Node features, edges and labels; everything is a numpy array, so it travels cheaply.

    ``edges`` lists each edge as (source, target). An undirected edge stands in both
    directions. ``features`` stays sparse from the file to the first layer; only a variant of a
    graph may have dense ones. With ``targets`` numbers are to be learned instead of classes.
    """

    name: str
    features: sp.csr_array | NDArray[np.float32]  # [N, F] float32
    edges: NDArray[np.int64]  # [2, E]
    labels: NDArray[np.int64]  # [N]
    metric: str = "accuracy"
    fixed: FixedSplits | None = None
    preprocessing: str = "raw"
    targets: NDArray[np.float32] | None = None  # [N, T]
    origin: str = ""
    """What a variant was made of and how: its hash, as eigenvectors are not the same to the last
    digit on every machine."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.labels)

    @property
    def num_features(self) -> int:
        """Number of features F."""
        return int(self.features.shape[1])

    @cached_property
    def num_classes(self) -> int:
        """Number of classes C."""
        return int(self.labels.max()) + 1

    @property
    def num_outputs(self) -> int:
        """How many numbers a model gives per node: targets, or classes."""
        return self.num_classes if self.targets is None else int(self.targets.shape[1])

    @property
    def truth(self) -> NDArray[np.int64] | NDArray[np.float32]:
        """What is to be learned: targets [N, T], or labels [N]."""
        return self.labels if self.targets is None else self.targets

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether every edge stands in both directions."""
        n = self.num_nodes
        forward = np.sort(self.edges[0] * n + self.edges[1])
        return np.array_equal(forward, np.sort(self.edges[1] * n + self.edges[0]))

    @property
    def homophily(self) -> float:
        """Fraction of edges that join two nodes of one class."""
        source, target = self.edges
        return float((self.labels[source] == self.labels[target]).mean())

    @cached_property
    def hash(self) -> str:
        """Name shared by equal content, on every machine; preprocessing is part of it."""
        if self.origin:
            return hash_of_origin(self.origin)
        shape = self.features.shape
        digest = hashlib.sha256(f"{self.preprocessing}/{self.metric}/{shape}".encode())
        for array in self._arrays():
            # Index types differ between files and scipy versions: only values count.
            kind = np.float32 if array.dtype.kind == "f" else np.int64
            digest.update(f"/{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        return digest.hexdigest()[:16]

    def _arrays(self) -> list[NDArray[Any]]:
        x = self.features
        arrays = [x] if isinstance(x, np.ndarray) else [x.indptr, x.indices, x.data]
        arrays += [self.edges, self.labels]
        if self.fixed:
            arrays += [self.fixed.train, self.fixed.val, self.fixed.test]
        return arrays if self.targets is None else [*arrays, self.targets]


def hash_of_origin(origin: str) -> str:
    """The hash of a graph that is named by what it was made of."""
    return hashlib.sha256(origin.encode()).hexdigest()[:16]


def preprocess(graph: Graph, preprocessing: str) -> Graph:
    """Merge duplicate edges, drop self-loops, row-normalise features.

    ``undirected`` adds the reverse of every edge; ``released`` keeps directions, and the features
    of chameleon and squirrel as they are, as the code released with the paper does.
    """
    if preprocessing not in PREPROCESSINGS:
        raise UnknownName("preprocessing", preprocessing, PREPROCESSINGS)
    raw = preprocessing == "released" and graph.name.partition("@")[0] in RAW_FEATURES
    edges = graph.edges
    if preprocessing == "undirected":
        edges = np.concatenate([edges, edges[::-1]], axis=1)
    edges = edges[:, edges[0] != edges[1]]
    return replace(
        graph,
        edges=merge_duplicates(edges, graph.num_nodes),
        features=graph.features if raw else row_normalised(graph.features),
        preprocessing=preprocessing,
    )


def merge_duplicates(edges: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    """Each (source, target) once, sorted by target, then source."""
    keys = np.unique(edges[1].astype(np.int64) * num_nodes + edges[0])
    return np.stack([keys % num_nodes, keys // num_nodes])


def row_normalised(features: sp.csr_array) -> sp.csr_array:
    """Rows divided by their sum; rows that sum to zero stay as they are."""
    sums = np.asarray(features.sum(axis=1)).ravel()
    scale = np.divide(1.0, sums, out=np.ones_like(sums), where=sums != 0)
    values = features.data * np.repeat(scale, np.diff(features.indptr)).astype(np.float32)
    return sp.csr_array((values, features.indices, features.indptr), shape=features.shape)
