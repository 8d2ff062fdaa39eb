"""What a trial occupies of a machine."""

from dataclasses import dataclass

from clar_tune.checks import positive
from clar_tune.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Resources:
    """Processors and the share of one GPU that a trial gets."""

    cpus: float = 1.0
    gpus: float = 0.0

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

    def slots(self, cpus: float, gpus: float) -> int:
        """How many trials a node with these processors and GPUs holds at once."""
        by_cpu = int(cpus / self.cpus + 1e-9)
        if not self.gpus:
            return by_cpu
        # A share never spans two devices.
        return min(by_cpu, int(gpus + 1e-9) * int(1 / self.gpus + 1e-9))


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
