"""How fast a run may go, and until when."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """How much can run at once, and until when."""

    workers: int = 1
    deadline: float | None = None
    draining: bool = False
    """Interrupted: nothing new starts, repeats under way are the last."""
    waiting: bool = False
    """No machine is there that could hold a trial."""
    now: Callable[[], float] = time.monotonic

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return float("inf") if self.deadline is None else self.deadline - self.now()

    @property
    def over(self) -> bool:
        """Nothing new starts."""
        return self.draining or self.left <= 0
