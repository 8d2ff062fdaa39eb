"""How fast a run may go, and until when."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Limits:
    """How much can run at once, and until when."""

    workers: int = 1
    deadline: float | None = None
    draining: bool = False
    """Interrupted: nothing new starts, repeats under way are the last."""
    waiting: bool = False
    """No machine is there that could hold a trial."""
    gpus: float = 0.0
    """Share of a GPU that every trial asks for."""
    remarks: list[str] = field(default_factory=list)
    """What the user should read once while the run goes on."""
    now: Callable[[], float] = time.monotonic

    def remark(self, text: str) -> None:
        """Tell the user something, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return float("inf") if self.deadline is None else self.deadline - self.now()

    @property
    def over(self) -> bool:
        """Nothing new starts."""
        return self.draining or self.left <= 0
