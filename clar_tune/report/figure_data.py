"""Figures as data for the page's scripts; rows that figures share are stored once."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clar_tune.report.blocks import Figure

Compact = dict[str, Any]


def figures_data(figures: Iterable[Figure]) -> dict[str, Any]:
    """Specifications by name, each with the place of its rows among the tables."""
    tables: dict[int, int] = {}
    compacts: list[Compact] = []
    drawn = []
    for figure in list(figures):  # all rows stay alive: no two share an id
        if id(figure.rows) not in tables:
            tables[id(figure.rows)] = len(compacts)
            compacts.append(compact(figure.rows))
        drawn.append(
            {
                "name": figure.name,
                "kind": figure.kind,
                "title": figure.title,
                "text": figure.text,
                "rows": tables[id(figure.rows)],
                "spec": figure.spec,
            }
        )
    return {"figures": drawn, "tables": compacts}


def compact(rows: Sequence[Mapping[str, Any]]) -> Compact:
    """Rows as columns and lists of values: no name is written twice."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {
        "columns": columns,
        "rows": [[_plain(row.get(column)) for column in columns] for row in rows],
    }


def _plain(value: Any) -> Any:
    """Six digits are more than any figure shows; what JSON cannot hold is nothing."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
