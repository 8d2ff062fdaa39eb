"""What commands print for people: as wide as the terminal, or 100 columns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from clar_tune.analysis import Comparison


WIDTH = 100
_WIDE = 1_000_000
"""More columns than any table has."""


def console() -> Console:
    """For tables on stdout."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def print_whole(table: Table) -> None:
    """A table of rich's; off a terminal nothing is cut to a width that nobody asked for."""
    from rich.console import Console

    page = console()
    if not page.is_terminal:
        page = Console(width=Console(width=_WIDE).measure(table).maximum, highlight=False)
    page.print(table)


def print_table(*comparisons: Comparison) -> None:
    """Comparisons as tables, with styles on a terminal."""
    from clar_tune.report import table

    page = console()
    click.echo(table(*comparisons, width=page.width, styled=page.is_terminal), nl=False)
