"""The comparison as a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from clar_tune.comparison import Cell
    from clar_tune.overview import StudyView
    from clar_tune.store import Store

NOTE = (
    "test: mean ± standard deviation over finals, the best of a graph in bold. gain: mean paired "
    "difference to the backbone alone. active: share of epochs in which the penalty had a "
    "gradient. seconds: all trainings. Spreads of resampled splits are no test of significance."
)


def studies_in(store: Store, run: str) -> list[StudyView]:
    """The studies of a stored run."""
    from clar_tune.overview import FINAL_COLUMNS, studies_of

    finals = store.finals(run, FINAL_COLUMNS).to_pylist()
    return studies_of(store.find(run).row, store.trials(run), finals)


def console() -> Console:
    """As wide as the terminal, or 100 columns."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 100, highlight=False)


def print_comparison(run: str, cells: list[Cell]) -> None:
    """One line per study: mean test score over finals, and the paired gain of a regularizer."""
    from rich import box
    from rich.table import Table

    page = console()
    if not cells:
        page.print(f"{run}: no winner has finals yet.")
        return
    conditions = any(cell.condition for cell in cells)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("graph", "method", *(["condition"] if conditions else [])):
        table.add_column(column)
    for column in ("test %", "gain", "finals", "trials", "repeats", "active", "seconds"):
        table.add_column(column, justify="right")
    best = {cell.graph: max(c.mean for c in cells if c.graph == cell.graph) for cell in cells}
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        last = following is None or following.graph != cell.graph
        table.add_row(*_row(cell, conditions, cell.mean == best[cell.graph]), end_section=last)
    page.print(table)
    page.print(NOTE)
    if any(cell.used_up for cell in cells):
        page.print("† fewer trials than asked for: the space is used up.")
    if not all(cell.full for cell in cells):
        page.print("* no trial had all repeats: the winner comes from the highest rung.")


def _row(cell: Cell, conditions: bool, best: bool) -> list[str]:
    from rich.markup import escape

    spread = "" if cell.spread is None else f" ± {100 * cell.spread:.2f}"
    score = f"{100 * cell.mean:.2f}{spread}{'' if cell.full else ' *'}"
    number = f" ({cell.search})" if cell.search else ""
    return [
        escape(cell.graph),
        escape(cell.method + number),
        *([escape(cell.condition)] if conditions else []),
        f"[bold]{score}[/bold]" if best else score,
        "" if cell.gain is None else f"{100 * cell.gain:+.2f}",
        str(cell.finals),
        f"{cell.trials}{'†' if cell.used_up else ''}",
        str(cell.repeats),
        "" if cell.penalty_active is None else f"{cell.penalty_active:.2f}",
        f"{cell.seconds:.0f}",
    ]
