"""A comparison as JSON, with everything that it holds."""

import json
import math
from typing import Any

from clar_tune.analysis import Comparison
from clar_tune.records import to_stored

FORMAT = 1
"""Counts changes that a reader of the JSON must know of."""


def as_json(*comparisons: Comparison) -> str:
    """All comparisons in one list, whatever their number; the same input gives the same text."""
    whole = {"format": FORMAT, "comparisons": [data_of(comparison) for comparison in comparisons]}
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def data_of(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON can hold it: what is not a number is null."""
    return {name: _plain(value) for name, value in to_stored(comparison).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
