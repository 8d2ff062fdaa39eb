"""Check (d): what a worker with a share of a device may take of its memory."""

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from clar_tune.device_check.findings import Finding
from clar_tune.search import is_out_of_memory
from clar_tune.training import CONTEXT, claim, limit_memory, memory_fraction

PRETENDED = 4 * 2**30
"""Bytes of memory that a logical GPU is taken to have, where trainings run on processors."""


class Tenant:
    """A process with a share of a device: it claims the share as workers do, then uses it.

    On a processor the kernel limits the address space to as much as a GPU would have left.
    """

    def __init__(self, device: str, share: float, context: int = CONTEXT) -> None:
        self._kept: list[Tensor] = []
        self._share, self._context = share, context
        if device == "cuda":
            self._device = claim(share, context)
            self._total = torch.cuda.get_device_properties(self._device).total_memory
            self.fraction = limit_memory(self._device, share, context)
        else:
            self._device, self._total = torch.device("cpu"), PRETENDED
            self.fraction = memory_fraction(share, PRETENDED, context)
            _limit_address_space(int(self.fraction * PRETENDED))

    def fractions(self) -> tuple[float, float]:
        """Which part of the device's memory it may fill, and which part it should."""
        return self.fraction, memory_fraction(self._share, self._total, self._context)

    def device_number(self) -> str:
        """The device that it was given, as the scheduler counts them."""
        return os.environ.get("CUDA_VISIBLE_DEVICES", "")

    def take(self, part: float) -> str:
        """Take some part of what is its own; why that fails, or nothing."""
        size = int(part * self.fraction * self._total)
        try:
            self._kept.append(torch.empty(size, dtype=torch.uint8, device=self._device))
        except Exception as error:  # whatever it is, it is told
            return "memory" if is_out_of_memory(error) else f"{type(error).__name__}: {error}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenancy:
    """What became of the processes that shared one device; an answer is why it was refused."""

    share: float
    wanted: float
    """The part of the memory that each should be able to fill."""
    fractions: Sequence[float]
    """The part that each could fill."""
    modest: Sequence[str]
    """The answers to processes that took some of what is theirs."""
    greedy: str
    """The answer to one that took more."""
    others: Sequence[str]
    """The answers to the others after that."""


def judge_shares(seen: Tenancy) -> Finding:
    """As many processes as shares, each with its fraction, and only the greedy one refused."""
    count, wrong = int(1 / seen.share + 1e-9), []
    if len(seen.fractions) != count:
        wrong.append(f"{len(seen.fractions)} of {count} processes came to the device")
    if any(abs(fraction - seen.wanted) > 1e-6 for fraction in seen.fractions):
        wrong.append(f"fractions {seen.fractions} of its memory instead of {seen.wanted:.3f} each")
    for refused in filter(None, (*seen.modest, *seen.others)):
        wrong.append(f"a process that kept to its share was refused: {refused}")
    if seen.greedy != "memory":
        answer = seen.greedy or "it got it"
        wrong.append(f"a process that took too much was not refused by its limit: {answer}")
    found = (
        f"{count} processes at {seen.share:g} can fill {seen.wanted:.3f} of its memory each, "
        "contexts apart; one that took more failed alone"
    )
    return Finding(
        check="shares",
        ok=not wrong,
        found="; ".join(wrong) or found,
        values={"share": seen.share, "fractions": list(seen.fractions), "wrong": wrong},
    )


def _limit_address_space(more: int) -> None:
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + more, hard))
