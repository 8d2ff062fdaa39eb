"""Documents as CSV: one header, and a line for every record."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from clar_tune.report.blocks import Document

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet takes text that begins so for a formula."""


def rendered(documents: Sequence[Document]) -> str:
    """The values of all tables; ``record`` says which table a line is of."""
    records = [record for document in documents for record in _records(document)]
    flat = [column.key for document in documents for column in document.flat.columns]
    names = dict.fromkeys((*flat, *(name for record in records for name in record)))
    page = StringIO()
    writer = csv.DictWriter(page, names, restval="", lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({name: _safe(value) for name, value in record.items()})
    return page.getvalue()


def _records(document: Document) -> Iterator[dict[str, Any]]:
    for record in document.flat.records():
        own = {name: value for name, value in record.items() if value is not None}
        yield {**record, **document.origin, **own}
    for table in document.data_tables():
        for record in table.records():
            yield {**document.origin, "record": table.ident, **record}


def _safe(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
