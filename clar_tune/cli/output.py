"""What commands print for people, and where the noise of libraries goes meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from clar_tune.analysis import Comparison
    from clar_tune.report import Document

WIDTH = 100
"""Of pages that go to no terminal, unless ``$COLUMNS`` says another."""
_WIDE = 1_000_000
"""More columns than any table has."""


def console() -> Console:
    """For tables on stdout; rich asks the terminal, or takes what ``$COLUMNS`` says."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or _asked_for() else WIDTH
    return Console(width=width, highlight=False)


def _asked_for() -> bool:
    """Whether somebody says how wide a page is that goes to no terminal."""
    width = os.environ.get("COLUMNS", "")
    return width.isdigit() and int(width) > 0


def print_whole(table: Table) -> None:
    """A table of rich's; off a terminal nothing is cut to a width that nobody asked for."""
    from rich.console import Console

    page = console()
    if not page.is_terminal and not _asked_for():
        page = Console(width=Console(width=_WIDE).measure(table).maximum, highlight=False)
    page.print(table)


def print_table(comparison: Comparison) -> None:
    """A comparison, the answer first, without how to read it."""
    from clar_tune.report import document_of

    print_documents([document_of(comparison, explain=False)])


def print_documents(documents: Sequence[Document]) -> None:
    """Documents as tables, with styles on a terminal."""
    from clar_tune.report import render

    page = console()
    options = {"width": page.width, "styled": page.is_terminal}
    click.echo(render(documents, "terminal", **options), nl=False)


@contextmanager
def diverted(log: Path) -> Iterator[TextIO]:
    """Send both output streams, those of child processes too, to a file.

    Yields the standard error stream as it was, for what a user should see.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(file, 1)
        os.dup2(file, 2)
        with os.fdopen(os.dup(kept[1]), "w", buffering=1) as terminal:
            yield terminal
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(file)
