"""How many threads torch computes with."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch compute with some number of threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
