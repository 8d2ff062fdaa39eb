"""Backbones as a user may write them: good, slow, broken and deadly ones."""

import os
import signal
import time
from pathlib import Path

import torch
from torch import Tensor, nn

PACE = Path(__file__).with_name("pace.txt")
"""Seconds that each pass of ``Paced`` takes, by number of edges (``*``: any); read every time."""


class Paced(nn.Module):
    """A linear model that is as slow as a file says; its numbers do not depend on that."""

    def __init__(self, inputs: int, outputs: int, scale: float = 1.0) -> None:
        super().__init__()
        self.linear, self.scale = nn.Linear(inputs, outputs), scale

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if PACE.exists():
            edges, _, seconds = PACE.read_text().partition(" ")
            if edges in ("*", str(edge_index.shape[1])):
                time.sleep(float(seconds))
        return self.scale * self.linear(x)


class Raises(Paced):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        raise KeyError("no such weight")


class ReturnsNan(Paced):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) * float("nan")


class WrongShape(Paced):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index)[:-1]


class NeverEnds(Paced):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        while True:
            torch.ones(1)


class HeedsNothing(Paced):
    """It never ends either, and swallows what should stop it."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        while True:
            try:
                time.sleep(0.1)
            except BaseException:
                continue


class KillsItsProcess(Paced):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        os.kill(os.getpid(), signal.SIGKILL)
        return x
