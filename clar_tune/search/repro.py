"""Trains one stored row again."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from clar_tune.errors import GraphError
from clar_tune.graphs import apply_variants, load
from clar_tune.rows import FinalRow, RepeatRow
from clar_tune.search.jobs import trained
from clar_tune.space import Plan
from clar_tune.training import best_device, form_of

TOLERANCE = 1e-3
"""How far numbers may differ on another machine."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A number then and now."""

    name: str
    stored: float
    again: float

    @property
    def size(self) -> float:
        """How far they are apart."""
        return abs(self.again - self.stored)

    @property
    def tolerable(self) -> bool:
        """Whether another machine may be to blame; epochs may shift, scores hardly."""
        return self.name in ("epochs", "best_epoch") or self.size <= TOLERANCE


def repeat_training(row: RepeatRow, plan: Plan, data: Path | None) -> list[Difference]:
    """Train a row again, as its run did, and compare every number that it stored."""
    study = next(study for study in plan.studies if study.columns.study == row.study)
    plain = load(row.graph, plan.settings.preprocessing, data)
    graph = apply_variants(plain, study.variant, study.seed)
    purpose, arm = ("final", row.arm) if isinstance(row, FinalRow) else ("repeat", "on")
    spec = study.spec(row.params, purpose, row.repeat, plain.hash, arm)
    if spec.key != row.key:
        raise GraphError(
            f"{row.key}: the training would be {spec.key}. The graph {row.graph} ({graph.hash}) "
            "or the program's version of numbers is not that of the run."
        )
    device = best_device() if row.device != "cpu" else torch.device("cpu")
    spec = replace(spec, device=device.type)
    form = form_of(graph, spec.engine, device)
    again = trained(spec, purpose, row.repeat, graph, form)
    numbers = [
        ("val_score", row.val_score, again.record.val_score),
        ("val_loss", row.val_loss, again.record.val_loss),
        ("best_epoch", row.best_epoch, again.record.best_epoch),
        ("epochs", row.epochs, again.record.epochs),
    ]
    if isinstance(row, FinalRow) and again.test_score is not None:
        numbers.append(("test_score", row.test_score, again.test_score))
    return [Difference(*number) for number in numbers]
