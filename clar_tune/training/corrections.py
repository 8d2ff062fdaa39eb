"""Answers that a regularizer corrects once a training is over."""

from dataclasses import replace

import torch
from torch import Tensor

from clar_tune.graphs import SearchNodes
from clar_tune.models import Known, Regularizer
from clar_tune.records import TrainRecord
from clar_tune.training.objectives import Truth, objective_of


def corrected(
    regularizer: Regularizer,
    record: TrainRecord,
    logits: Tensor,
    truth: Truth,
    nodes: SearchNodes,
) -> tuple[TrainRecord, Tensor]:
    """The same training with other answers, judged by these."""
    train, val = (torch.tensor(own, device=truth.device) for own in (nodes.train, nodes.val))
    labels, objective = truth.labels, objective_of(truth, nodes)
    answers, facts = regularizer.corrected(logits, Known(labels[train], val, labels[val]))
    judged = replace(
        record,
        val_score=objective.val_score(answers),
        val_loss=float(objective.val_loss(objective.read(answers))),
        facts={**record.facts, **facts},
    )
    return judged, answers
