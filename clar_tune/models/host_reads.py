"""Which form of a computation suits the place where its tensors lie.

On a CPU reading a number of a tensor costs nothing, so that results may be as large as numbers
say and arithmetic on a few of them is done by Python. A GPU works behind the program: whoever
reads a number waits until its queue is empty. There sizes are known beforehand, what does not
count is zero, and numbers stay on the device.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_forced = [False]


def reads_are_free(device: torch.device) -> bool:
    """Whether a program may read numbers of tensors as it likes: on a CPU."""
    return device.type == "cpu" and not _forced[0]


@contextmanager
def device_forms() -> Iterator[None]:
    """Take the forms for GPUs in the block, wherever tensors lie: so they are tested."""
    before, _forced[0] = _forced[0], True
    try:
        yield
    finally:
        _forced[0] = before
