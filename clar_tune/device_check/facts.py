"""Check (a): what a device is."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

import torch

from clar_tune.records import stored_as
from clar_tune.training import CONTEXT, measured_context
from clar_tune.version import __version__

DRIVER = Path("/proc/driver/nvidia/version")


@stored_as("name", "driver", "memory", "context", "torch", "clar_tune")
@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """A device, and the versions that decide what it computes."""

    name: str
    driver: str
    memory: int
    """Bytes."""
    context: int
    """Bytes that a process takes of it besides its tensors."""
    torch: str
    clar_tune: str = __version__

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal for devices that one report speaks for."""
        return self.name, self.driver, self.torch, self.clar_tune

    def __str__(self) -> str:
        return (
            f"{self.name}, driver {self.driver}, {self.memory / 2**30:.1f} GiB of which a process "
            f"takes {self.context / 2**20:.0f} MiB, torch {self.torch}"
        )


def device_facts(device: torch.device, *, measure: bool = False) -> DeviceFacts:
    """What a device is; its context is measured only if asked for, which takes seconds."""
    build = f"{torch.__version__}, CUDA {torch.version.cuda or 'none'}"
    if device.type != "cuda":
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        name = f"processor {platform.machine()}"
        return DeviceFacts(name=name, driver="none", memory=memory, context=0, torch=build)
    about = torch.cuda.get_device_properties(device)
    return DeviceFacts(
        name=about.name,
        driver=_driver(),
        memory=about.total_memory,
        context=measured_context() if measure else CONTEXT,
        torch=build,
    )


def _driver() -> str:
    try:
        first, *_ = DRIVER.read_text().splitlines()
    except (OSError, ValueError):
        return "unknown"
    found = re.search(r"\b\d+\.\d+(\.\d+)?\b", first)
    return found[0] if found else "unknown"
