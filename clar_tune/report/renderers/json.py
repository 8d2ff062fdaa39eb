"""Documents as JSON: the records that they were made of, and the lines of other tables."""

import json
import math
from collections.abc import Sequence
from typing import Any

from clar_tune.report.blocks import Document

FORMAT = 1
"""Counts changes that a reader of the JSON must know of."""


def rendered(documents: Sequence[Document]) -> str:
    """Documents of each kind in one list, whatever their number.

    The same input gives the same text.
    """
    kinds: dict[str, list[dict[str, Any]]] = {"comparisons": []}
    for document in documents:
        kinds.setdefault(document.ident, []).append(data_of(document))
    whole = {"format": FORMAT, **kinds}
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def data_of(document: Document) -> dict[str, Any]:
    """A document as JSON can hold it: what is not a number is null."""
    tables = {table.ident: list(table.records()) for table in document.data_tables()}
    return {name: _plain(value) for name, value in {**document.stored, **tables}.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
