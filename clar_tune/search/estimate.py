"""How long a plan takes, without doing any of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from clar_tune.models import BACKBONES, REGULARIZERS
from clar_tune.records import Pace, Params
from clar_tune.search.epoch_costs import epochs, seconds_per_epoch
from clar_tune.search.expected_repeats import expected_repeats
from clar_tune.search.sizes import Size
from clar_tune.space import Plan, StudyPlan

SAMPLED = 32
"""Configurations of a study over which times and epochs are averaged."""

NATIVE = 5.7
"""How many times as long as the native engine torch takes, which the table is of; measured over a
search of twelve methods on texas, cornell and cora (``python -m benchmarks.engine_search``)."""

SOURCES = ("probed", "stored", "table", "nearest")
"""Where the time of an epoch comes from, the best first: measured now, measured by a stored run,
the table, or the table's nearest for a method of the user's that it does not have."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One study of a plan in numbers."""

    study: StudyPlan
    trainings_at_most: int
    trainings_expected: float
    epochs: float
    """Of one training."""
    seconds: float
    """Of one training."""
    source: str
    """One of ``SOURCES``."""

    @property
    def total(self) -> float:
        """Seconds of all expected trainings on one worker."""
        return self.seconds * self.trainings_expected


def is_own(study: StudyPlan) -> bool:
    """Whether a method is the user's own, which the table does not have."""
    method = study.method
    return method.backbone not in BACKBONES or method.regularizer not in REGULARIZERS


def estimates(
    plan: Plan,
    sizes: Mapping[str, Size],
    factor: Callable[[], float],
    paces: Mapping[tuple[str, str, str], Pace],
    probed: Mapping[int, float],
) -> list[Estimate]:
    """One estimate per study.

    Args:
        plan: the plan.
        sizes: how large its graphs are.
        factor: gives how many times as long this machine takes as that of the table; asked once,
            and only if the table is needed.
        paces: what stored runs of some studies took, by graph, condition and method.
        probed: seconds of an epoch that were measured, by the study's number in the plan.
    """
    judged, machine = _Sampled(), 0.0
    found = []
    for number, study in enumerate(plan.studies):
        per_training, per_epoch = judged(study, sizes[study.columns.graph])
        source, pace = "nearest" if is_own(study) else "table", paces.get(study.place)
        if pace is not None:
            source, per_epoch = "stored", pace.seconds_per_epoch
            per_training = min(study.training.max_epochs, pace.selected + study.training.patience)
        if number in probed:
            source, per_epoch = "probed", probed[number]
        if source in ("table", "nearest"):
            machine = machine or factor()
            per_epoch *= machine / (NATIVE if study.engine == "native" else 1.0)
        most, expected = _trainings(study)
        seconds = per_training * per_epoch
        found.append(Estimate(study, most, expected, per_training, seconds, source))
    return found


def _trainings(study: StudyPlan) -> tuple[int, float]:
    """All that a study may need, and those that pruning will leave of them.

    Of finals whose number their precision decides, the least are expected; of arms all, as a
    winner may need them.
    """
    rules, finals = study.rules, study.finals * (1 + len(study.arms))
    expected = float(study.most_repeats)
    if study.has_search and rules.pruning:
        expected = expected_repeats(study.trials, rules.repeats, rules.reduction)
    return study.most_repeats + study.most_finals, expected + finals


class _Sampled:
    """Judges studies by the table, each over some of its configurations, which graphs share."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], list[Params]] = {}

    def __call__(self, study: StudyPlan, size: Size) -> tuple[float, float]:
        """Epochs of a training, and seconds of an epoch, weighted by how many there are."""
        varied = size.varied(study.variant)
        each = [
            (epochs(study.method, params, study.training), params)
            for params in self._configurations(study)
        ]
        per_training = fmean(count for count, _ in each)
        spent = fmean(c * seconds_per_epoch(study.method, p, varied) for c, p in each)
        return per_training, spent / per_training

    def _configurations(self, study: StudyPlan) -> list[Params]:
        """Configurations that fill the space evenly; one if there is nothing to search."""
        key = (study.method.name, id(study.parameters))
        if key not in self._known:
            searched = len(study.parameters.searched)
            self._known[key] = [
                study.method.complete(study.parameters.at(unit))
                for unit in _latin(SAMPLED if searched else 1, searched)
            ]
        return self._known[key]


def _latin(count: int, dimensions: int) -> list[list[float]]:
    """Points of the unit cube; along each side they stand in equal steps, in a random order."""
    draw = np.random.Generator(np.random.PCG64(0))
    sides = [(draw.permutation(count) + 0.5) / count for _ in range(dimensions)]
    return [[float(side[point]) for side in sides] for point in range(count)]
