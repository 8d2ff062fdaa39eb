"""Values that every search begins with: those that papers and released codes use."""

from collections.abc import Mapping
from typing import Any

from clar_tune.models.method import Method
from clar_tune.records import Params

SHARED: Params = {"lr": 0.01, "dropout": 0.5, "weight_decay": 5e-4}
"""Of every method, where it knows them."""

WEIGHTS: Mapping[str, Params] = {
    "clar": {"alpha": 1.0, "beta": 1.0},
    "nl": {"alpha": 1.0},
    "preg": {"weight": 0.1},
    "madreg": {"weight": 0.5},
    "dropedge": {"rate": 0.5},
}
"""Of the paper's regularizers; others, and a user's own, begin with their defaults."""

CITATION = ("cora", "citeseer", "pubmed")
"""The citation graphs, to which ``WEIGHTS`` belong."""

ELSEWHERE: Mapping[str, Params] = {"preg": {"weight": 0.5}}
"""Where the paper has another weight on all other graphs."""


def known_elsewhere(method: Method, graph: str) -> Params | None:
    """What a method begins with on a graph instead of the usual; nothing on most."""
    return None if graph in CITATION else ELSEWHERE.get(method.regularizer)


def known_values(method: Method, instead: Params | None = None) -> dict[str, Any]:
    """What a method begins with: a value for each parameter, its default where nothing is said.

    ``instead`` is what :func:`known_elsewhere` tells of the graph.
    """
    known = method.parameters()
    said = {**SHARED, **WEIGHTS.get(method.regularizer, {}), **(instead or {})}
    return {name: said.get(name, default) for name, default in known.items()}
