"""Where a training runs, and what share of it it may use."""

import gc
import os
import subprocess
import sys

import torch

from clar_tune.errors import ParameterError

MIB = 2**20

CONTEXT = 512 * MIB
"""What a process takes of a GPU besides its tensors, where nobody has measured it.

CUDA's context, and the kernels of torch and its libraries, lie outside torch's allocator: 0.3 to
0.5 GB, as the device and the versions are.
"""

LEAST = 256 * MIB
"""Memory for tensors below which no share is of use."""

BLAS_WORKSPACE = ":4096:8"
"""What cuBLAS needs to give the same bits twice; it reads that when CUDA starts."""

CONTEXT_HOLDER = """\
import torch
eye = torch.eye(8, device="cuda")
(eye @ eye + eye.to_sparse_csr() @ eye).sort().values.sum().item()
print("ready", flush=True)
input()
"""
"""A process that has used what trainings use of torch, and holds it until it is told to go on."""


def best_device() -> torch.device:
    """The GPU that this process may use, or the CPU.

    torch decides, not environment variables: a scheduler's logical GPUs need not exist.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def memory_fraction(share: float, total: int, context: int = CONTEXT) -> float:
    r"""Which part of a GPU's memory torch may fill in a process that has a share of the device.

    With k processes at share 1/k and a context each, :math:`f = 1/k - c / M`, so that all of
    them fit: :math:`k (f M + c) = M`. A share that holds little more than its context is refused.
    """
    left = share * total - context
    if left < LEAST:
        raise ParameterError(
            f"--gpus-per-trial {share:g}: of {total / MIB:.0f} MiB on the device a trial gets "
            f"{share * total / MIB:.0f}, and its CUDA context takes {context / MIB:.0f} of them. "
            "Choose a larger share."
        )
    return left / total


def limit_memory(device: torch.device, share: float, context: int = CONTEXT) -> float:
    """Keep this process to a share of a GPU's memory; a CPU has no such limit.

    Returns the fraction that torch may fill.
    """
    if device.type != "cuda":
        return 1.0
    total = torch.cuda.get_device_properties(device).total_memory
    fraction = memory_fraction(share, total, context)
    torch.cuda.set_per_process_memory_fraction(fraction, device)
    return fraction


def use_deterministic_algorithms(device: torch.device) -> None:
    """Let a GPU give the same bits twice wherever torch knows how; a CPU does so anyway.

    To be called before CUDA starts in this process. An operation without a deterministic
    algorithm still runs, with a warning: ``clar-tune doctor --gpu`` names it.
    """
    if device.type != "cuda":
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", BLAS_WORKSPACE)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Nothing is read here before it is written: filling it first would cost time.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def claim(share: float, context: int = CONTEXT) -> torch.device:
    """The device of a process with a share of a GPU, its memory limited, its bits repeatable."""
    device = best_device()
    use_deterministic_algorithms(device)
    limit_memory(device, share, context)
    return device


def release_memory() -> None:
    """Give back what this process no longer uses, to others that share its machine or GPU."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def measured_context() -> int:
    """Bytes that another process takes of this GPU before it holds a tensor worth mentioning.

    Right only while nobody else comes or goes on the device.
    """
    torch.zeros(1, device="cuda")  # our own context is not to be counted
    before, _ = torch.cuda.mem_get_info()
    child = subprocess.Popen(
        [sys.executable, "-c", CONTEXT_HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        ready = child.stdout.readline()
        after, _ = torch.cuda.mem_get_info()
        child.communicate("\n")
    return max(before - after, 0) if ready else CONTEXT
