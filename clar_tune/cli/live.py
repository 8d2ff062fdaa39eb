"""Progress of a run: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.table import Table

    from clar_tune.analysis import Progress
    from clar_tune.search import Scheduler

LINES_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""

REDRAW_EVERY = 0.5

DRAINING = "interrupted: repeats under way are finished first; once more stops at once"

WAITING = "waiting for machines"


class Silent:
    """Shows nothing, and says only what is not to be missed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, scheduler: Scheduler) -> None:
        """Show the state of a run, if it is time for that."""

    def close(self, scheduler: Scheduler) -> None:
        """Show the last state of a run."""

    def say(self, text: str) -> None:
        """Write a line."""
        self._stream.write(f"{text}\n")

    def note(self, text: str) -> None:
        """Write a line where progress is shown."""


class Lines(Silent):
    """A line now and then."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._clock, self._next = Clock(), 0.0
        self._confirmed, self._waiting = -1, False
        self._told: list[str] = []

    def __call__(self, scheduler: Scheduler) -> None:
        """Write a line if it is time for one, a study was confirmed, or machines are missing."""
        for text in remarks(scheduler):
            if text not in self._told:
                self._told.append(text)
                self._stream.write(f"{text}\n")
        confirmed = sum(study.confirmed for study in scheduler.studies)
        state = (confirmed, scheduler.limits.waiting)
        if time.monotonic() >= self._next or state != (self._confirmed, self._waiting):
            self._confirmed, self._waiting = state
            self._next = time.monotonic() + LINES_EVERY
            self._write(scheduler)

    def note(self, text: str) -> None:
        """Write it."""
        self.say(text)

    def close(self, scheduler: Scheduler) -> None:
        """Write a last line, unless the confirmation of the last study was one."""
        if self._confirmed != len(scheduler.studies):
            self._write(scheduler)

    def _write(self, scheduler: Scheduler) -> None:
        self._stream.write(f"{summary(progress_of(scheduler), self._clock)}\n")


class Board(Silent):
    """A table that is drawn anew while the run goes on."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(stream)
        self._clock, self._next = Clock(), 0.0
        self._live = Live(console=Console(file=stream), auto_refresh=False)

    def __enter__(self) -> Board:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, scheduler: Scheduler) -> None:
        """Draw, but not too often."""
        if time.monotonic() >= self._next:
            self.close(scheduler)

    def note(self, text: str) -> None:
        """Write it above the table."""
        self.say(text)

    def close(self, scheduler: Scheduler) -> None:
        """Draw."""
        from rich.console import Group
        from rich.text import Text

        self._next = time.monotonic() + REDRAW_EVERY
        progress = progress_of(scheduler)
        rows = max(5, self._live.console.height - 6)
        lines = [summary(progress, self._clock), *remarks(scheduler)]
        self._live.update(Group(_table(progress, rows), *map(Text, lines)), refresh=True)


class Clock:
    """Time and trainings since a view was opened: what was stored before is not of its rate."""

    def __init__(self) -> None:
        self._began, self._before = time.monotonic(), -1

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    def rate(self, trainings: int) -> float:
        """Trainings per minute."""
        if self._before < 0:
            self._before = trainings
        return 60 * (trainings - self._before) / max(self.elapsed, 1.0)


def view_on(stream: TextIO, *, quiet: bool) -> Silent:
    """What fits the stream."""
    if quiet:
        return Silent(stream)
    return Board(stream) if stream.isatty() else Lines(stream)


def progress_of(scheduler: Scheduler) -> Progress:
    """The state of a run in numbers."""
    from clar_tune.analysis import Progress
    from clar_tune.search import studies_under_way

    limits = scheduler.limits
    return Progress(studies_under_way(scheduler), limits.workers, waiting=limits.waiting)


def remarks(scheduler: Scheduler) -> list[str]:
    """What the user should know besides."""
    limits = scheduler.limits
    return [*limits.remarks, DRAINING] if limits.draining else list(limits.remarks)


def summary(progress: Progress, clock: Clock) -> str:
    """One line on everything."""
    from clar_tune.analysis import duration

    states = ", ".join(
        f"{progress.total(name)} {name}" for name in ("complete", "pruned", "failed")
    )
    parts = [
        f"{progress.confirmed}/{len(progress.studies)} studies confirmed",
        f"{progress.total('done')}/{progress.total('trials')} trials ({states})",
        f"{progress.total('finals')}/{progress.total('finals_wanted')} finals",
        f"{clock.rate(progress.trainings):.0f} trainings/min",
    ]
    best = progress.best
    if best is not None:
        parts.append(f"best {best.best:.4f} ({best.method} on {best.graph})")
    if progress.waiting:
        parts.append(WAITING)
    elif progress.seconds_left is not None:
        parts.append(f"about {duration(progress.seconds_left)} left")
    return f"{duration(clock.elapsed)}: {', '.join(parts)}"


def _table(progress: Progress, rows: int) -> Table:
    """The studies that are at work, then the ones before and after them."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("graph", "method"):
        table.add_column(column, no_wrap=True)
    for column in ("trials", "pruned", "failed", "running", "best val", "finals"):
        table.add_column(column, justify="right")
    open_ = [number for number, study in enumerate(progress.studies) if not study.confirmed]
    first = max(0, min(open_[0] - 1 if open_ else 0, len(progress.studies) - rows))
    for study in progress.studies[first : first + rows]:
        table.add_row(
            Text(study.graph),
            Text(f"{study.method} {study.condition}".strip()),
            f"{study.done}/{study.trials}",
            str(study.pruned),
            str(study.failed),
            str(study.running),
            "" if study.best is None else f"{study.best:.4f}",
            f"{study.finals}/{study.finals_wanted}",
        )
    return table
