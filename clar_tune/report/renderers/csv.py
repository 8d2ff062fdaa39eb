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
    page = StringIO()
    writer = csv.DictWriter(page, _columns(documents), restval="", lineterminator="\n")
    writer.writeheader()
    for document in documents:
        for record in _records(document):
            writer.writerow({name: _safe(value) for name, value in record.items()})
    return page.getvalue()


def _columns(documents: Sequence[Document]) -> list[str]:
    """All columns, those of flat tables first."""
    flat = [document.flat for document in documents if document.flat]
    tables = [table for document in documents for table in document.data_tables()]
    origin = [name for document in documents for name in document.origin]
    shown = [column.key for table in tables for column in table.columns]
    known = [column.key for table in flat for column in table.columns]
    return list(dict.fromkeys((*known, *origin, *(["record"] if shown else []), *shown)))


def _records(document: Document) -> Iterator[dict[str, Any]]:
    for record in document.flat.records() if document.flat else ():
        yield {**record, **document.origin}
    for table in document.data_tables():
        for record in table.records():
            yield {**document.origin, "record": table.ident, **record}


def _safe(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
