"""A training of a few epochs by the program's own loop."""

from dataclasses import replace

import torch
from torch import Tensor

from clar_tune.graphs import search_nodes
from clar_tune.models import Method
from clar_tune.records import Params, TrainRecord
from clar_tune.testing.example_graphs import TWO_RINGS
from clar_tune.testing.subject import Subject
from clar_tune.training import choose_engine, form_of, train

EPOCHS = 3
PROTOCOL = "random-60-20-20"
SEEDS = (0, 1)


def engines_of(method: Method) -> list[str]:
    """The engines that train a method: torch all, the native one those that are built in."""
    chosen = choose_engine("native", method, TWO_RINGS.metric, "loss").engine
    return ["torch", "native"] if chosen == "native" else ["torch"]


def trained(method: Method, params: Params, engine: str = "torch") -> tuple[TrainRecord, Tensor]:
    """The record and the logits of a training on two rings; the record without its seconds."""
    spec = method.spec(TWO_RINGS, params, PROTOCOL, SEEDS, max_epochs=EPOCHS, engine=engine)
    nodes = search_nodes(TWO_RINGS, PROTOCOL, spec.split_seed)
    fit = train(spec, form_of(TWO_RINGS, engine), nodes)
    return replace(fit.record, seconds=0.0), fit.logits


def check_training(subject: Subject, method: Method, params: Params) -> None:
    """It can be trained by each engine, and equal seeds give equal numbers to the last digit."""
    for engine in engines_of(method):
        by = "" if engine == "torch" else f" by the {engine} engine"
        _check_training(subject.on(f"{TWO_RINGS.name}{by}"), method, params, engine)


def _check_training(here: Subject, method: Method, params: Params, engine: str) -> None:
    with here.attempt():
        (first, logits), (second, others) = (trained(method, params, engine) for _ in range(2))
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
