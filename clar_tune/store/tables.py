"""Tables of a run as its driver writes them: a row has its place in one part, for ever.

No part is ever merged with another, so there is no moment at which a row stands in two or in
none, for whatever reads the files. The last part of a table grows until it is full; a part of
``trials`` holds the trials that appeared first in it, whose rows are replaced as they change.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clar_tune.store.fence import Fence
from clar_tune.store.files import Files
from clar_tune.store.own_folder import Overtaken
from clar_tune.store.parquet import decoded, encoded, numbered, parts_of
from clar_tune.store.schema import TRIAL, newest_trials, once, schema_of, table_of

ROWS_PER_PART = 50_000
TRIALS_PER_PART = 5_000


class Parts:
    """The parts of one table, read and written through the run's fence."""

    def __init__(self, files: Files, fence: Fence, table: str, run: str, mark: str) -> None:
        self._files, self._fence = files, fence
        self.table, self._run, self._mark = table, run, mark

    def numbers(self) -> list[int]:
        """The parts that are there."""
        found = parts_of(self._files, self.table, self._run)
        return [part.number for part in found if part.number is not None]

    def read(self, number: int, *, anew: bool = False) -> pa.Table:
        """Rows of a part; none if it is not there."""
        part = numbered(self.table, self._run, number)
        data = self._fence.read(part.path, anew=anew)
        if not data:
            return schema_of(self.table).empty_table()
        return decoded(data, part, self._files.shown(part.path))

    def write(self, number: int, rows: pa.Table) -> None:
        """Replace a part, or create it."""
        path = numbered(self.table, self._run, number).path
        self._fence.write(path, encoded(rows, self._mark))

    def claim(self, confirm: Callable[[], None]) -> None:
        """Write the open parts anew, so that their former driver can write them no more.

        And the next that it would begin. What it had under way may still arrive meanwhile: then
        it is read again. ``confirm`` fails if the run is another's by now.
        """
        while True:
            try:
                return self._claim(self.numbers(), confirm)
            except Overtaken:
                confirm()

    def _claim(self, numbers: list[int], confirm: Callable[[], None]) -> None:
        free, limit = 0, TRIALS_PER_PART if self.table == "trials" else ROWS_PER_PART
        for number in numbers if self.table == "trials" else numbers[-1:]:
            rows = self._claim_part(number, confirm)
            free = number + 1 if len(rows) >= limit else number
        if free not in numbers:
            self._claim_part(free, confirm)

    def _claim_part(self, number: int, confirm: Callable[[], None]) -> pa.Table:
        """Rows of a part, which is this driver's from now on.

        The run is known to be this driver's after the part was read: whoever takes it later
        writes the part anew, and what is written here then finds another state.
        """
        rows = self.read(number, anew=True)
        confirm()
        self.write(number, rows)
        return rows


class AppendedTable:
    """A table whose rows never change; ``seq`` is the largest number that its files hold."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self.seq = parts, -1
        numbers = parts.numbers()
        self._number = numbers[-1] if numbers else 0
        self._rows = schema_of(parts.table).empty_table()  # of the part that still grows
        for number in reversed(numbers):
            rows = once(parts.read(number))
            if number == self._number:
                self._rows = rows
            if len(rows):
                self.seq = pc.max(rows["seq"]).as_py()
                break

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Bring rows into the files; those that the files hold already are left out."""
        rest = table_of(self._parts.table, [row for row in rows if row["seq"] > self.seq])
        while len(rest):
            if len(self._rows) >= ROWS_PER_PART:
                self._number, self._rows = self._number + 1, self._rows.slice(0, 0)
            room = ROWS_PER_PART - len(self._rows)
            grown = pa.concat_tables([self._rows, rest.slice(0, room)]).combine_chunks()
            self._parts.write(self._number, grown)
            self._rows, rest = grown, rest.slice(room)
            self.seq = pc.max(grown["seq"]).as_py()


class TrialsTable:
    """The table of trials, whose rows change until a trial has ended.

    The part that was written last is kept: mostly it is the next to be written, too.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts, self.seq = parts, -1
        self._homes: dict[tuple[Any, ...], dict[int, int]] = {}
        self._last, self._rows = 0, schema_of("trials").empty_table()
        for number in parts.numbers():
            self._last, self._rows = number, parts.read(number)
            for *study, trial in _trials(self._rows):
                self._homes.setdefault(tuple(study), {}).setdefault(trial, number)
            if len(self._rows):
                self.seq = max(self.seq, pc.max(self._rows["seq"]).as_py())
        self._count, self._held = len(self._rows), self._last

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Bring rows into the files, each where its trial is at home."""
        by_part: dict[int, list[dict[str, Any]]] = {}
        for row in rows:
            by_part.setdefault(self._home(row), []).append(row)
        for number in sorted(by_part):
            stored = self._rows if number == self._held else self._parts.read(number)
            changed = newest_trials(
                pa.concat_tables([stored, table_of("trials", by_part[number])])
            )
            if not changed.equals(stored):
                self._parts.write(number, changed)
                self.seq = max(self.seq, pc.max(changed["seq"]).as_py())
            self._held, self._rows = number, changed

    def _home(self, row: dict[str, Any]) -> int:
        """The part of a trial; a new one goes to the last part, or begins another."""
        *study, trial = (row[name] for name in TRIAL)
        homes = self._homes.setdefault(tuple(study), {})
        if trial not in homes:
            if self._count >= TRIALS_PER_PART:
                self._last, self._count = self._last + 1, 0
            homes[trial] = self._last
            self._count += 1
        return homes[trial]


def written_table(parts: Parts) -> AppendedTable | TrialsTable:
    """A table that is open for writing."""
    return TrialsTable(parts) if parts.table == "trials" else AppendedTable(parts)


def _trials(rows: pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in TRIAL), strict=True)
