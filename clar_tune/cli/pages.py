"""What commands print for people: as wide as the terminal, or 100 columns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from clar_tune.comparison import Comparison


def console() -> Console:
    """For tables on stdout."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 100, highlight=False)


def print_table(*comparisons: Comparison) -> None:
    """Comparisons as tables, with styles on a terminal."""
    from clar_tune.formats import table

    page = console()
    click.echo(table(*comparisons, width=page.width, styled=page.is_terminal), nl=False)
