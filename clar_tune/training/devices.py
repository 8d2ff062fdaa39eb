"""Where a training runs, and what share of it it may use."""

import gc

import torch


def best_device() -> torch.device:
    """The GPU that this process may use, or the CPU.

    torch decides, not environment variables: a scheduler's logical GPUs need not exist.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def limit_memory(device: torch.device, fraction: float) -> None:
    """Keep this process to a fraction of a GPU's memory; a CPU has no such limit."""
    if device.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(fraction, device)


def release_memory() -> None:
    """Give back what this process no longer uses, to others that share its machine or GPU."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
