"""Shares of draws with their Monte-Carlo errors, and tables of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Measured:
    """A mean over draws and its Monte-Carlo standard error."""

    value: float
    error: float

    @staticmethod
    def over(values: ArrayLike) -> "Measured":
        """Over single draws, or over samples [S] with several draws of each [S, D]."""
        units = np.asarray(values, dtype=float)
        units = units.reshape(len(units), -1).mean(axis=1)
        return Measured(float(units.mean()), float(units.std() / np.sqrt(len(units))))

    def __str__(self) -> str:
        return f"{100 * self.value:.2f} ± {100 * self.error:.2f}"


Row = Mapping[str, Measured | str | int | float]
Part = Callable[[int, int], Iterator[Row]]
"""Rows of a table, one after the other, from a number of draws and a seed."""


def print_row(row: Row, *, header: bool) -> None:
    """Print one line, and the names of its columns above the first."""
    widths = {name: max(len(name), len(str(value)), _least(value)) for name, value in row.items()}
    if header:
        print("  ".join(f"{name:>{widths[name]}}" for name in row))
    print("  ".join(f"{row[name]!s:>{widths[name]}}" for name in row), flush=True)


def _least(value: object) -> int:
    return len("100.00 ± 0.00") if isinstance(value, Measured) else 0


def stored(row: Row) -> dict[str, object]:
    """The row as JSON has it, with values and errors as fractions."""
    return {k: asdict(v) if isinstance(v, Measured) else v for k, v in row.items()}
