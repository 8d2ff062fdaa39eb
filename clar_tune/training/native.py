"""A training by the native engine, judged as one by torch is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clar_tune.engine import ArrayGraph, train
from clar_tune.errors import ParameterError
from clar_tune.graphs import SearchNodes
from clar_tune.models import Method
from clar_tune.records import TrainRecord, TrainSpec
from clar_tune.training.corrections import corrected
from clar_tune.training.loop import Report
from clar_tune.training.objectives import objective_of


@dataclass(frozen=True, eq=False)
class NativeFit:
    """A finished training: its record, and what its selected epoch had learned."""

    record: TrainRecord
    weights: Mapping[str, NDArray[np.float32]]  # by the names of torch's model
    logits: Tensor  # [N, C] of the selected epoch, in evaluation mode; numbers in regression


@dataclass(frozen=True, eq=False)
class _Truth:
    """What answers are judged by."""

    metric: str
    labels: Tensor
    targets: Tensor | None
    device: torch.device = torch.device("cpu")


def train_natively(
    spec: TrainSpec,
    graph: Any,
    nodes: SearchNodes,
    report: Report | None = None,
    seconds: float = math.inf,
) -> NativeFit:
    """Train one configuration on one split."""
    if spec.device != "cpu":
        raise ParameterError(f"device {spec.device}: the native engine trains on processors.")
    assert isinstance(graph, ArrayGraph)
    told = _without_scores(report) if graph.metric == "roc_auc" else report
    fit = train(spec, graph, nodes, told, seconds=seconds)
    record, logits = fit.record, torch.from_numpy(fit.logits)
    regularizer = Method(spec.backbone, spec.regularizer).build_regularizer(spec.params)
    targets = None if graph.targets is None else torch.from_numpy(graph.targets)
    truth = _Truth(graph.metric, torch.from_numpy(graph.labels), targets)
    if graph.metric != "accuracy":  # to the last digit as test nodes are judged
        score = objective_of(truth, nodes).val_score(logits)
        record = replace(record, val_score=score)
    if regularizer.corrects:
        record, logits = corrected(regularizer, record, logits, truth, nodes)
    return NativeFit(record, fit.weights, logits)


def _without_scores(report: Report | None) -> Report | None:
    """A report that is told no accuracy for a ROC AUC, which nobody knows before the end."""
    return report and (lambda epoch, loss, _: report(epoch, loss, math.nan))
