"""Rebuilds a page while its runs go on, in one thread that never takes more than its share."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from clar_tune.analysis import RunView, stored_progress
from clar_tune.report.page import Built, PageBuilder
from clar_tune.report.progress import Liveness

SHARE = 0.2
"""Most of the time that reading and building may take."""
PERIOD = 2.0
"""Seconds between two readings, at least."""
REFRESH = 30.0
"""Seconds after which a run at work is shown again even if nothing arrived."""
WINDOW = 300.0
"""Seconds that the rate of trainings is taken over."""

Seen = Sequence[tuple[RunView, bool]]
"""Runs as they are now, each with whether some driver works on it."""
Read = Callable[[], Seen]
Tell = Callable[[str], None]


class LivePage:
    """The last build of a page, and the thread that makes the next one."""

    def __init__(self, read: Read, tell: Tell = lambda line: None, period: float = PERIOD) -> None:
        """Build once, here and now: what is wrong from the start is an error for the caller."""
        self._read, self._tell, self._period = read, tell, period
        self._builder, self._rates = PageBuilder(live=True), Rates()
        self._state: list[object] = []
        self._built_at = time.monotonic()
        self.trouble = ""
        """Why the last reading failed; empty if it did not."""
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="report", daemon=True)
        self.built: Built
        """The last build; replaced as a whole."""
        self._look()

    def start(self) -> None:
        """Go on rebuilding in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end."""
        self._stopped.set()

    def _work(self) -> None:
        cost = 0.0
        while not self._stopped.wait(max(self._period, cost / SHARE - cost)):
            started = time.monotonic()
            try:
                self._look()
                self._note("")
            except Exception as error:  # a page that is shown must not go away
                self._note(f"{type(error).__name__}: {error}")
            cost = time.monotonic() - started

    def _look(self) -> None:
        """Read the runs; build if something changed, or if it is time to show the clock."""
        seen, now = list(self._read()), time.monotonic()
        rates = {run.name: self._rates.rate(run, now) for run, _ in seen}
        going = any(driven for _, driven in seen)
        state: list[object] = [(run.row, _rows_of(run), driven) for run, driven in seen]
        due = going and now - self._built_at > REFRESH
        if state == self._state and not due:
            return
        liveness = {run.name: Liveness(driven, rates[run.name]) for run, driven in seen}
        self.built = self._builder.build([run for run, _ in seen], liveness)
        self._state, self._built_at = state, now

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self.trouble:
            self._tell(f"the page stays as it was: {trouble}")
        self.trouble = trouble


class Rates:
    """Trainings per minute of each run, over the last minutes."""

    def __init__(self) -> None:
        self._counts: dict[str, deque[tuple[float, int]]] = {}

    def rate(self, run: RunView, now: float) -> float | None:
        """The rate as of now; none until some trainings have arrived."""
        counts = self._counts.setdefault(run.name, deque())
        counts.append((now, stored_progress(run).trainings))
        while counts[-1][0] - counts[0][0] > WINDOW:
            counts.popleft()
        (then, before), (_, count) = counts[0], counts[-1]
        return 60 * (count - before) / (now - then) if count > before else None


def _rows_of(run: RunView) -> list[object]:
    """Changes with every row that arrives."""
    return [(study.trials, study.finals_done, study.winner) for study in run.studies]
