"""One configuration beside its plain backbone and its control, each trained on the same splits."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clar_tune.errors import ParameterError
from clar_tune.graphs import Graph, search_nodes
from clar_tune.models import Arm, Method, arms_of
from clar_tune.records import Params, TrainRecord, TrainSpec, stored_as
from clar_tune.switches import ANY
from clar_tune.training.engines import Form, train
from clar_tune.training.frequencies import Energy, Frequencies
from clar_tune.training.held_out import test_score
from clar_tune.training.loop import Report

ONE = "One training shows nothing for sure: --splits 5 trains each five times."
SEVERAL = "The trainings share nodes: this is a view, not a test."


@dataclass(frozen=True, slots=True)
class Measured:
    """One training, and the energy of its outputs at the selected epoch, in evaluation mode."""

    spec: TrainSpec
    record: TrainRecord
    energy: Energy
    test_score: float | None


Results = Mapping[str, Sequence[Measured]]
"""The trainings of each arm by its label: plain first, then the method, then its control."""


@stored_as("mean", "deviation")
@dataclass(frozen=True, slots=True)
class Summary:
    """Mean and standard deviation over trainings; no deviation of one."""

    mean: float
    deviation: float | None


def labelled_arms(method: Method, params: Params) -> dict[str, Arm]:
    """The plain backbone, then the method; for clar also its control, unless beta is 0."""
    if method.corrects:
        raise ParameterError(
            f"{method.name}: {method.regularizer} corrects answers and leaves the outputs as they "
            f"are. Choose {method.backbone}."
        )
    found = {method.backbone: Arm(method.plain, method.plain.share_of(params))}
    arms = arms_of(method, params)
    found[method.name] = arms["on"]
    if "any" in arms:
        found[f"{method.name} sampling={ANY}"] = arms["any"]
    return found


@dataclass(frozen=True, eq=False)
class Stage:
    """A graph, what energies on it are measured by, and the rules of training."""

    graph: Graph
    tensors: Form
    frequencies: Frequencies
    rules: dict[str, Any]

    def measure(
        self, arm: Arm, seeds: tuple[int, int], test: bool, report: Report | None
    ) -> Measured:
        """Train once; ``seeds`` are those of the split and of the weights."""
        spec = arm.method.spec(self.graph, arm.params, seeds=seeds, **self.rules)
        nodes = search_nodes(self.graph, spec.protocol, spec.split_seed)
        fit = train(spec, self.tensors, nodes, report)
        energy = self.frequencies.energy(fit.logits.cpu().numpy())
        return Measured(
            spec, fit.record, energy, test_score(fit, spec, self.graph) if test else None
        )


def summary(values: Iterable[float | None]) -> Summary | None:
    """Over the values that are there; none if none is."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    return Summary(statistics.fmean(found), statistics.stdev(found) if len(found) > 1 else None)


def seen(results: Results) -> list[str]:
    """What the mean frequencies say, in plain sentences."""
    plain, *others = results
    lines = [f"The outputs of {plain} have a mean frequency of {_mean(results[plain])}."]
    if others:
        lines.append(
            f"Those of {others[0]} have {_mean(results[others[0]])}: "
            f"{_rise(results[others[0]], results[plain])}."
        )
        if all(one.record.penalty_active == 0 for one in results[others[0]]):
            lines.append("Its penalty never had a gradient: this is the plain backbone.")
    if others[1:]:
        lines.append(
            f"The control sampling={ANY}, which draws edges too, has "
            f"{_mean(results[others[1]])}: against it {others[0]} is "
            f"{_rise(results[others[0]], results[others[1]])}."
        )
    return [*lines, ONE if len(results[plain]) == 1 else SEVERAL]


def _rise(first: Sequence[Measured], second: Sequence[Measured]) -> str:
    """``higher by 0.012 ± 0.003, in 4 of 5 trainings``; pairs of trainings on the same split."""
    pairs = [
        (one.energy.frequency, other.energy.frequency)
        for one, other in zip(first, second, strict=True)
    ]
    rises = [a - b for a, b in pairs if a is not None and b is not None]
    found = summary(rises)
    if found is None or not found.mean:
        return "no difference"
    word = "higher" if found.mean > 0 else "lower"
    size = f"{word} by {abs(found.mean):.3f}"
    if found.deviation is None:
        return size
    alike = sum(rise * found.mean > 0 for rise in rises)
    return f"{size} ± {found.deviation:.3f}, in {alike} of {len(pairs)} trainings"


def _mean(results: Sequence[Measured]) -> str:
    """``0.512``, and in how many trainings there is no such number."""
    found = summary(one.energy.frequency for one in results)
    equal = sum(one.energy.frequency is None for one in results)
    number = "none" if found is None else f"{found.mean:.3f}"
    return (
        f"{number} (equal outputs at all nodes in {equal} of {len(results)})" if equal else number
    )
