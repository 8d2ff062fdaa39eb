"""Runs and stores as a program holds them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clar_tune.errors import UnknownName, UnknownRun

if TYPE_CHECKING:
    from pandas import DataFrame

    from clar_tune.analysis import RunView
    from clar_tune.store import Store, StoredRun

Address = str | os.PathLike[str]
"""Directory or URL of a store."""

FRAMES = ("trials", "repeats", "finals")
"""Tables of a run."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Run:
    """A run in a store, after a driver has worked on it or as somebody found it."""

    name: str
    store: Store
    state: str
    """``running``, ``finished``, ``paused`` by the time budget, ``interrupted``, or
    ``incomplete``; as it was when the run was opened, or when its driver ended."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """What studies of an incomplete run lack, by their names: a winner, or some finals. Told
    only by the driver that worked on it."""
    worked: bool = True
    """Whether anything was left to do."""

    def __repr__(self) -> str:
        return f"<run {self.name}, {self.state}, in {self.store.url}>"

    def frame(self, table: str) -> DataFrame:
        """A table of the run as it is now, parameters as columns; the first column is ``run``.

        Args:
            table: ``trials``, ``repeats`` or ``finals``.
        """
        from clar_tune.api.frames import frame_of_table

        if table not in FRAMES:
            raise UnknownName("table of a run", table, FRAMES)
        return frame_of_table(self.name, table, self.store.table(table, self.name))

    def view(self, *, curves: bool = False) -> RunView:
        """What is stored, study by study; ``curves`` reads the repeats of its trials too."""
        from clar_tune.analysis import read_run

        return read_run(self.store, self.name, curves=curves)


class StoreView(Mapping[str, Run]):
    """The runs of a store by their whole names, the newest first.

    It is for reading alone, and knows nothing by heart: it tells what the store holds when it
    is asked.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, name: str) -> Run:
        found = self._store.named(name)
        if found is None:
            raise UnknownRun("run", name, self)
        return self._run(found)

    def __iter__(self) -> Iterator[str]:
        return (run.name for run in self._store.runs())

    def __len__(self) -> int:
        return len(self._store.runs())

    def __repr__(self) -> str:
        return f"<store {self._store.url}: {', '.join(self) or 'no runs'}>"

    @property
    def damaged(self) -> list[str]:
        """What reading came across and left out, one line each."""
        return self._store.damaged()

    def find(self, text: str) -> Run:
        """The run with this name, with a name that begins so, or the ``latest``."""
        return self._run(self._store.find(text))

    def query(self, sql: str) -> DataFrame:
        """The answer to one SELECT over ``runs``, ``trials``, ``repeats`` and ``finals``."""
        from clar_tune.api.frames import frame_of_answer
        from clar_tune.store import run_query

        return frame_of_answer(run_query(self._store, sql))

    def _run(self, found: StoredRun) -> Run:
        return Run(name=found.name, store=self._store, state=found.row.state)


def open_store(url: Address | None = None) -> StoreView:
    """The runs of a store, for reading.

    Args:
        url: A directory, or ``s3://``, ``gs://`` …; by default what ``CLAR_TUNE_STORE`` says,
            then ``./clar-store``. Nothing is created.
    """
    from clar_tune.store import Store

    return StoreView(Store.open(url or default_address()))


def default_address() -> str:
    """Where results are unless somebody says otherwise."""
    return os.environ.get("CLAR_TUNE_STORE") or "clar-store"
