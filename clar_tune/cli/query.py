"""``clar-tune query``: read-only SQL over the store."""

from __future__ import annotations

import csv
import json
import math
import sys
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.options import store_option
from clar_tune.cli.output import print_whole
from clar_tune.errors import QueryError

if TYPE_CHECKING:
    from rich.text import Text


@click.command()
@click.argument("sql")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    show_default=True,
    help="How to print the answer.",
)
@store_option
def query(sql: str, form: str, store: str) -> None:
    """Ask the store in SQL: tables `runs`, `trials`, `repeats` and `finals`.

    The SQL is DuckDB's. It can read these tables and nothing else. Each has the column `run`.

    \b
    Examples:
      clar-tune query "SELECT graph, method, arm, avg(test_score) FROM finals GROUP BY ALL"
      clar-tune query "FROM trials WHERE state = 'failed'" --format csv
      clar-tune query "DESCRIBE repeats"
    """  # noqa: D301
    from clar_tune.store import Store, run_query

    if form == "parquet" and sys.stdout.isatty():
        raise QueryError("Parquet is not for a terminal. Write it to a file: … > answer.parquet")
    opened = Store.open(store)
    answer = run_query(opened, sql)
    for line in opened.damaged():
        click.echo(f"clar-tune: left out: {line}", err=True)
    _PRINTERS[form](answer)


def _print_table(answer: Any) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in answer.column_names:
        table.add_column(Text(name))
    for row in _rows(answer):
        table.add_row(*map(_cell, row))
    print_whole(table)


def _cell(value: Any) -> Text:
    """One line: a text of several, such as that of a space, would tear its row apart."""
    from rich.text import Text

    return Text("" if value is None else "⏎".join(str(value).splitlines()))


def _print_csv(answer: Any) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.column_names)
    writer.writerows(_rows(answer))


def _print_json(answer: Any) -> None:
    rows = [dict(zip(answer.column_names, row, strict=True)) for row in _rows(answer)]
    click.echo(json.dumps(rows, indent=2))


def _print_parquet(answer: Any) -> None:
    from clar_tune.store import encoded

    sys.stdout.buffer.write(encoded(answer))


def _rows(answer: Any) -> Any:
    """Rows as tuples of what JSON can hold."""
    columns = [[_plain(value) for value in column.to_pylist()] for column in answer.columns]
    return zip(*columns, strict=True)


def _plain(value: Any) -> Any:
    """Sums of whole numbers are decimals, times are times, bits are bytes."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else str(value)


_PRINTERS = {
    "table": _print_table,
    "csv": _print_csv,
    "json": _print_json,
    "parquet": _print_parquet,
}
