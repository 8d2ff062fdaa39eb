"""Check (f): a device fault on purpose, in a process that is there for it."""

import errno
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from clar_tune.device_check.findings import Finding
from clar_tune.search import BrokenProcess

FAULTY = f"{__name__}:Faulty"
"""How a space names the network below."""

breaking = [False]
"""Whether it breaks its process: set in the process that is to break."""


class Faulty(nn.Module):
    """A network that triggers a device-side assertion; on a CPU, an error of the machine."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.map = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits of all nodes."""
        if breaking[0] and x.device.type == "cuda":
            nowhere = torch.full((1,), len(x), device=x.device)
            x = x + x[nowhere]  # out of bounds: the device stops, and whoever asks it next hears
            torch.cuda.synchronize(x.device)
        elif breaking[0]:
            raise OSError(errno.EIO, "broken on purpose")
        logits: Tensor = self.map(x)
        return logits


def judge_fault(losses: Sequence[str], failed: Sequence[str], state: str) -> Finding:
    """One process was lost and known to be broken, and its trial was done by another."""
    known = [loss for loss in losses if BrokenProcess.__name__ in loss]
    wrong = []
    if not losses:
        wrong.append("the forced fault broke no process")
    elif len(known) < len(losses):
        wrong.append(f"the fault was not known for what it is: {losses[0]}")
    elif len(losses) > 1:
        wrong.append(f"the next process was lost too: {losses[1]}")
    if failed or state != "finished":
        wrong.append(f"{len(failed)} trials failed by it, the run would be {state}")
    return Finding(
        check="fault",
        ok=not wrong,
        found="; ".join(wrong)
        or "a forced fault ended its process, another did the training, no trial failed",
        values={"losses": list(losses), "failed": list(failed), "state": state},
    )
