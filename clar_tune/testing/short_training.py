"""A training of a few epochs by the program's own loop."""

from dataclasses import replace

import torch
from torch import Tensor

from clar_tune.graphs import search_nodes
from clar_tune.models import Method, TensorGraph
from clar_tune.records import Params, TrainRecord
from clar_tune.testing.example_graphs import TWO_RINGS
from clar_tune.testing.subject import Subject
from clar_tune.training import train

EPOCHS = 3
PROTOCOL = "random-60-20-20"
SEEDS = (0, 1)


def trained(method: Method, params: Params) -> tuple[TrainRecord, Tensor]:
    """The record and the logits of a training on two rings; the record without its seconds."""
    spec = method.spec(TWO_RINGS, params, PROTOCOL, SEEDS, max_epochs=EPOCHS)
    nodes = search_nodes(TWO_RINGS, PROTOCOL, spec.split_seed)
    fit = train(spec, TensorGraph.of(TWO_RINGS), nodes)
    return replace(fit.record, seconds=0.0), fit.logits


def check_training(subject: Subject, method: Method, params: Params) -> None:
    """It can be trained, and equal seeds give equal numbers to the last digit."""
    here = subject.on(TWO_RINGS.name)
    with here.attempt():
        (first, logits), (second, others) = (trained(method, params) for _ in range(2))
        same = first == second and torch.equal(logits, others)
        here.expect(
            same,
            f"two trainings of {EPOCHS} epochs with equal seeds must give equal numbers",
            f"validation losses {first.val_loss!r} and {second.val_loss!r}, logits that differ "
            f"by up to {difference(logits, others):.2g}",
        )


def difference(first: Tensor, second: Tensor) -> float:
    """The largest difference of two tensors."""
    return float((first - second).detach().abs().max())
