"""What a trial occupies of a machine, and what machines have."""

import math
from dataclasses import dataclass

from clar_tune.errors import ParameterError
from clar_tune.validation import positive

GIB = 2**30


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of a cluster."""

    cpus: float
    gpus: float
    memory: float = math.inf
    """Bytes that trials may ask for."""
    name: str = ""
    head: bool = False
    id: str = ""
    """What Ray calls it, which no two machines share."""

    def __str__(self) -> str:
        memory = "" if self.memory == math.inf else f" and {self.memory / GIB:.1f} GiB"
        comma = "," if memory else " and"
        return f"{self.cpus:g} CPUs{comma} {self.gpus:g} GPUs{memory}"


@dataclass(frozen=True, slots=True)
class Resources:
    """Processors, the share of one GPU, and the bytes of memory that a trial gets."""

    cpus: float = 1.0
    gpus: float = 0.0
    memory: int = 0
    """Decided by the graph, not by an option; 0 asks for none."""

    def __post_init__(self) -> None:
        positive("--cpus-per-trial", self.cpus)
        if self.cpus > 1 and self.cpus != int(self.cpus):
            raise ParameterError(
                f"--cpus-per-trial {self.cpus:g}: choose a whole number, or a fraction below 1."
            )
        _check_share(self.gpus)

    @property
    def threads(self) -> int:
        """Threads of a training: its whole processors, and one at least."""
        return max(1, int(self.cpus))

    @property
    def request(self) -> dict[str, float]:
        """What Ray is asked for."""
        asked = {"CPU": self.cpus, "GPU": self.gpus, "memory": self.memory}
        return {name: amount for name, amount in asked.items() if amount}

    def slots(self, cpus: float, gpus: float, memory: float = math.inf) -> int:
        """How many trials a node with these processors, GPUs and bytes holds at once."""
        slots = int(cpus / self.cpus + 1e-9)
        if self.gpus:
            # A share never spans two devices.
            slots = min(slots, int(gpus + 1e-9) * int(1 / self.gpus + 1e-9))
        if self.memory and memory != math.inf:
            slots = min(slots, int(memory // self.memory))
        return slots

    def slots_of(self, node: Node) -> int:
        """How many trials a machine holds at once."""
        return self.slots(node.cpus, node.gpus, node.memory)


def _check_share(gpus: float) -> None:
    """Whole shares only: what is left of a device after packing would lie idle."""
    if not 0 <= gpus <= 1:
        raise ParameterError(
            f"--gpus-per-trial {gpus:g}: choose 0 for none, 1, or a fraction such as 0.5 or 0.25; "
            "a training uses one device at most."
        )
    if gpus and 1 - int(1 / gpus + 1e-9) * gpus > 0.05:
        packed = int(1 / gpus + 1e-9)
        raise ParameterError(
            f"--gpus-per-trial {gpus:g}: {packed} trials would leave "
            f"{1 - packed * gpus:.0%} of each device idle. "
            f"Choose {1 / packed:.4g} or {1 / (packed + 1):.4g}."
        )
