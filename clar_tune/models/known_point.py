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


def known_values(method: Method) -> dict[str, Any]:
    """What a method begins with: a value for each parameter, its default where nothing is said."""
    known = method.parameters()
    said = {**SHARED, **WEIGHTS.get(method.regularizer, {})}
    return {name: said.get(name, default) for name, default in known.items()}
