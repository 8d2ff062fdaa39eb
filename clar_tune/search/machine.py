"""What a manifest says about the machine and the versions in use."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import torch

PACKAGES = (
    *("clar-tune", "ray", "optuna", "torch", "torch-geometric"),
    *("pyarrow", "numpy", "scipy", "duckdb"),
)


def versions() -> dict[str, str]:
    """Python and every package that numbers or rows depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, str | int]:
    """The computer, as far as numbers and times depend on it."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": os.cpu_count() or 1,
        "gpus": ", ".join(torch.cuda.get_device_name(number) for number in range(gpus)),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            lines = [line for line in file if line.startswith("model name")]
    except OSError:
        lines = []
    return lines[0].partition(":")[2].strip() if lines else platform.processor()
