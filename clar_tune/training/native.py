"""A training by the native engine, judged as one by torch is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clar_tune.engine import ArrayGraph, train
from clar_tune.errors import ParameterError
from clar_tune.graphs import SearchNodes
from clar_tune.records import TrainRecord, TrainSpec
from clar_tune.training.loop import Report


@dataclass(frozen=True, eq=False)
class NativeFit:
    """A finished training: its record, and what its selected epoch had learned."""

    record: TrainRecord
    weights: Mapping[str, NDArray[np.float32]]  # by the names of torch's model
    logits: Tensor  # [N, C] of the selected epoch, in evaluation mode; numbers in regression


def train_natively(
    spec: TrainSpec, graph: Any, nodes: SearchNodes, report: Report | None = None
) -> NativeFit:
    """Train one configuration on one split."""
    if spec.device != "cpu":
        raise ParameterError(f"device {spec.device}: the native engine trains on processors.")
    assert isinstance(graph, ArrayGraph)
    fit = train(spec, graph, nodes, report)
    return NativeFit(fit.record, fit.weights, torch.from_numpy(fit.logits))
