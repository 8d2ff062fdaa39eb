"""How large a graph is: what time and memory of a training depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from clar_tune.graphs import SIGNALS, VARIANTS, Graph, dataset_named
from clar_tune.records import Value


@dataclass(frozen=True, slots=True)
class Size:
    """The numbers that decide how large the tensors of a graph are."""

    nodes: int
    edges: int
    features: int
    entries: int
    """Stored entries of the features."""
    outputs: int

    @staticmethod
    def of(graph: Graph) -> "Size":
        """The size of a graph."""
        x = graph.features
        return Size(
            nodes=graph.num_nodes,
            edges=int(graph.edges.shape[1]),
            features=graph.num_features,
            entries=int(x.size if isinstance(x, np.ndarray) else x.nnz),
            outputs=graph.num_outputs,
        )

    @staticmethod
    def known(name: str, preprocessing: str) -> "Size":
        """The size of a graph by the catalogue, whether its files are here or not.

        Of ``released`` edges those that stand twice or join a node to itself are counted too;
        of ``NAME@hash`` the size is that of the version that the catalogue has. A graph of which
        it does not say how many features are not zero counts as if none were.
        """
        facts, loaded = dataset_named(name).facts, dataset_named(name).loaded
        both = loaded and loaded.undirected if preprocessing == "undirected" else None
        return Size(
            nodes=facts.nodes,
            edges=both or facts.edges,
            features=facts.features,
            entries=loaded.entries if loaded else facts.nodes * facts.features,
            outputs=facts.classes,
        )

    @property
    def dense(self) -> bool:
        """Whether features are stored with their zeros, as variants make them."""
        return self.entries == self.nodes * self.features

    @property
    def stored(self) -> int:
        """Features that are not zero and edges: by them a graph is large or not."""
        return self.entries + self.edges

    def varied(self, variant: Mapping[str, Value]) -> "Size":
        """The size of the graph that a condition makes of one of this size."""
        size = self
        if rate := variant.get("drop_edges"):
            size = replace(size, edges=round(size.edges * (1 - float(rate))))
        if "filter" in variant:
            size = replace(size, features=SIGNALS, outputs=SIGNALS)
        if any(VARIANTS[name].spectral for name in variant):
            size = replace(size, entries=size.nodes * size.features)
        return size
