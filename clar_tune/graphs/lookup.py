"""Where a space and a command find the graphs that they name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from clar_tune.graphs.catalogue import Dataset, Loaded, known_facts, listed
from clar_tune.graphs.download import Progress
from clar_tune.graphs.graph import Graph, preprocess
from clar_tune.graphs.loading import facts_of, load_raw, locate
from clar_tune.graphs.own_names import beside_the_catalogue, is_own
from clar_tune.rows import GraphFacts


@dataclass(frozen=True)
class Lookup:
    """Finds graphs by name; each of a user's own is read once, whatever is asked of it.

    What the catalogue lists is known without its files.
    """

    data: Path | None = None
    """The folder to look in first."""
    given: Mapping[str, Graph] = field(default_factory=dict)
    """Raw graphs that a program hands over, by name."""
    _read: dict[str, Graph] = field(default_factory=dict, repr=False, compare=False)
    _known: dict[str, Dataset] = field(default_factory=dict, repr=False, compare=False)

    def dataset(self, name: str) -> Dataset:
        """What is known of a graph before it is loaded; one of a user's own is read for that."""
        if not self._is_own(name):
            return listed(name, beside=[*self.given, *beside_the_catalogue()])
        if name not in self._known:
            self._known[name] = _dataset_of(self.raw(name))
        return self._known[name]

    def facts(self, name: str) -> GraphFacts:
        """What a manifest says of a graph, so that readers need neither its file nor this."""
        dataset = self.dataset(name)
        if not dataset.own:
            return known_facts(name)
        nodes, edges, features, classes, homophily, _ = dataset.facts
        return GraphFacts(
            notes=dataset.notes,
            counts_as=name,
            generated=False,
            nodes=nodes,
            edges=edges,
            features=features,
            classes=classes,
            homophily=homophily,
            metric=dataset.metric,
            splits=dataset.splits,
        )

    def is_here(self, name: str) -> bool:
        """Whether a graph can be loaded without a download."""
        dataset = self.dataset(name)
        return dataset.source is None or locate(name, self.data) is not None

    def raw(self, name: str, progress: Progress | None = None) -> Graph:
        """The raw graph, as :func:`load_raw` gives it."""
        if name in self.given:
            return replace(self.given[name], name=name)
        if not self._is_own(name):
            return load_raw(name, self.data, progress)
        if name not in self._read:
            self._read[name] = load_raw(name, self.data)
        return self._read[name]

    def load(self, name: str, preprocessing: str = "undirected") -> Graph:
        """The graph, ready for training."""
        return preprocess(self.raw(name), preprocessing)

    def _is_own(self, name: str) -> bool:
        return name in self.given or is_own(name)


def _dataset_of(graph: Graph) -> Dataset:
    undirected = preprocess(graph, "undirected").edges.shape[1]
    return Dataset(
        source=None,
        facts=facts_of(graph),
        metric=graph.metric,
        loaded=Loaded(int(graph.features.size), int(undirected)),
        splits=graph.splits,
        own=True,
    )


def dataset_named(name: str, data: Path | None = None) -> Dataset:
    """What is known of the graph called ``name``; see :class:`Lookup`."""
    return Lookup(data).dataset(name)
