"""Tables of a run as its driver writes them: pending rows are folded into Parquet files."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clar_tune.store.files import Files
from clar_tune.store.parquet import Part, numbered, parts_of, read_part, write_part
from clar_tune.store.schema import APPENDED, newest_trials, table_of

ROWS_PER_PART = 250_000


class WrittenTable:
    """One table of a run; ``seq`` is the largest number that its files hold."""

    def __init__(self, files: Files, name: str, run: str) -> None:
        self._files, self.name, self._run = files, name, run
        kept = [part for part in parts_of(files, name, run) if part.number is not None]
        self._last = (kept[-1].number or 0) if kept else 0
        self._rows, self.seq = _extent(files, kept[-1]) if kept else (0, -1)

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Bring rows into the files; those that the files hold already are left out."""
        fresh = [row for row in rows if row["seq"] > self.seq]
        if not fresh:
            return
        if self.name in APPENDED:
            self._append(table_of(self.name, fresh))
        else:
            self._write(0, newest_trials(self._with_stored(table_of(self.name, fresh))))

    def _append(self, fresh: pa.Table) -> None:
        """The last part is written anew until it is full: files stay few without a clean-up."""
        if self._rows >= ROWS_PER_PART:
            self._last, self._rows = self._last + 1, 0
        rows = self._with_stored(fresh)
        for start in range(0, rows.num_rows, ROWS_PER_PART):
            part = rows.slice(start, ROWS_PER_PART)
            self._write(self._last + (start > 0), part)

    def _with_stored(self, fresh: pa.Table) -> pa.Table:
        """Rows of the last part, then those that it lacks.

        It may hold some of them: a write that was reported as failed can have succeeded.
        """
        if not self._rows:
            return fresh
        stored = read_part(self._files, numbered(self.name, self._run, self._last))
        lacking = pc.greater(fresh["seq"], pc.max(stored["seq"]))
        return pa.concat_tables([stored, fresh.filter(lacking)])

    def _write(self, number: int, rows: pa.Table) -> None:
        write_part(self._files, numbered(self.name, self._run, number), rows)
        self._last, self._rows = number, rows.num_rows
        self.seq = pc.max(rows["seq"]).as_py()


def _extent(files: Files, part: Part) -> tuple[int, int]:
    """How many rows a part holds, and the largest of their numbers."""
    numbers = read_part(files, part, ["seq"])["seq"]
    return len(numbers), pc.max(numbers).as_py() if len(numbers) else -1
