"""Conditions in a table: some of their keys make columns, the others rows."""

from collections.abc import Collection, Mapping

from clar_tune.conditions import parts_of

Place = tuple[str, str, str]
"""Graph, condition, method; in a table the condition of the row and the name of the column."""


def condition_of(parts: Mapping[str, str], keys: Collection[str] | None = None) -> str:
    """The condition of some keys, or of all."""
    chosen = (key for key in sorted(parts) if keys is None or key in keys)
    return ",".join(f"{key}={parts[key]}" for key in chosen)


def to_cell(place: Place, columns: Collection[str]) -> Place:
    """Where a study stands: the keys in ``columns`` move from its condition to its method.

    ``("cora", "clamp=10,layers=8", "gcn+clar")`` becomes ``("cora", "layers=8",
    "gcn+clar clamp=10")`` if ``clamp`` makes columns.
    """
    graph, condition, method = place
    if not columns:
        return place
    parts = parts_of(condition)
    column = condition_of(parts, [key for key in parts if key in columns])
    row = condition_of(parts, [key for key in parts if key not in columns])
    return graph, row, f"{method} {column}" if column else method


def split_label(label: str) -> tuple[str, str]:
    """The method and the condition in the name of a column."""
    method, _, condition = label.partition(" ")
    return method, condition


def whole_condition(place: Place) -> dict[str, str]:
    """The condition of a place of a table by key, whether it makes rows or columns."""
    _, row, label = place
    return {**parts_of(row), **parts_of(split_label(label)[1])}
