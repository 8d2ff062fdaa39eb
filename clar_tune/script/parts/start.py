"""How weights start."""

import math

import torch
from torch import Tensor


def glorot(inputs: int, outputs: int) -> Tensor:
    """[inputs, outputs] Uniform, by Glorot and Bengio."""
    bound = math.sqrt(6 / (inputs + outputs))
    return torch.empty(inputs, outputs).uniform_(-bound, bound)


def uniform(inputs: int, outputs: int) -> Tensor:
    """[inputs, outputs] Uniform, as those of ``torch.nn.Linear`` are."""
    bound = 1 / math.sqrt(inputs)
    return torch.empty(inputs, outputs).uniform_(-bound, bound)
