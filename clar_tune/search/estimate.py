"""How long a plan takes, judged by a few epochs of each of its methods on this machine."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean

import numpy as np

from clar_tune.graphs import Graph, Spectrum, apply_variants, search_nodes, seed_pair
from clar_tune.models import TensorGraph
from clar_tune.search.study import MakeJudge
from clar_tune.space import Plan, StudyPlan
from clar_tune.training import train, warm_up

EPOCHS = 300
"""Epochs that a training is assumed to take: 257 on cornell and 345 on texas, on average."""

PROBED = (2, 6)
"""Epochs of the two short trainings whose difference gives the time of one epoch."""

CONDITIONS = 3
"""Most conditions of a method and graph that are probed; others take as long as the nearest."""

SIMULATIONS = 20


@dataclass(frozen=True, slots=True)
class Estimate:
    """One study of a plan in numbers."""

    study: StudyPlan
    trainings_at_most: int
    trainings_expected: float
    seconds: float | None
    """Of one training; none where the graph is not here."""

    @property
    def total(self) -> float | None:
        """Seconds of all expected trainings on one worker."""
        return None if self.seconds is None else self.seconds * self.trainings_expected


def estimates(plan: Plan, graphs: Mapping[str, Graph], make_judge: MakeJudge) -> list[Estimate]:
    """One estimate per study."""
    warm_up()
    seconds: dict[int, float] = {}
    for name in plan.graphs:
        if name in graphs:
            seconds |= _seconds_on(graphs[name], plan)
    repeats: dict[object, float] = {}
    found = []
    for place, study in enumerate(plan.studies):
        rules = (study.rules, study.trials, study.has_search)
        if rules not in repeats:
            repeats[rules] = _expected_repeats(study, make_judge)
        most = study.trials * study.rules.repeats if study.has_search else 0
        expected = repeats[rules] + study.finals
        found.append(Estimate(study, most + study.finals, expected, seconds.get(place)))
    return found


def _seconds_on(graph: Graph, plan: Plan) -> dict[int, float]:
    """Seconds of one training, for every study on a graph by its place in the plan."""
    by_method: dict[str, list[int]] = {}
    for place, study in enumerate(plan.studies):
        if study.columns.graph == graph.name:
            by_method.setdefault(study.columns.method, []).append(place)
    probed = {method: _spread(places) for method, places in by_method.items()}
    measured = _measured(graph, plan, list(chain(*probed.values())))
    return {
        place: measured[min(probed[method], key=lambda other: abs(other - place))]
        for method, places in by_method.items()
        for place in places
    }


def _spread(places: list[int]) -> list[int]:
    """The studies of a method that are probed: all of a few, some of many."""
    count = min(len(places), CONDITIONS)
    return [places[int(at)] for at in np.linspace(0, len(places) - 1, count).round()]


def _measured(graph: Graph, plan: Plan, places: list[int]) -> dict[int, float]:
    """Seconds of some studies; of each variant the graph is made once, one at a time."""
    by_variant: dict[str, list[int]] = {}
    for place in places:
        variant = sorted(plan.studies[place].variant.items())
        by_variant.setdefault(str(variant), []).append(place)
    seconds: dict[int, float] = {}
    for alike in by_variant.values():
        first = plan.studies[alike[0]]
        like = apply_variants(graph, first.variant, first.seed, decompose=_no_spectrum)
        tensors = TensorGraph.of(like)
        seconds |= {place: _seconds(plan.studies[place], like, tensors) for place in alike}
    return seconds


def _no_spectrum(graph: Graph) -> Spectrum:
    """Frequencies that no graph has: the time of a training depends on its sizes alone."""
    n = graph.num_nodes
    return Spectrum(np.linspace(0, 2, n), np.eye(n, dtype=np.float32))


def _seconds(study: StudyPlan, graph: Graph, tensors: TensorGraph) -> float:
    """One training of a middling configuration: what it needs to start, and its epochs."""
    params = study.parameters.at([0.5] * len(study.parameters.searched))
    seeds = seed_pair(graph.name, study.columns.protocol, study.seed, 0, "repeat")
    spec = study.method.spec(graph, params, study.columns.protocol, seeds, threads=study.threads)
    nodes = search_nodes(graph, spec.protocol, spec.split_seed, study.outer_test)
    spent = []
    for epochs in PROBED:
        began = time.perf_counter()
        train(replace(spec, max_epochs=epochs), tensors, nodes)
        spent.append(time.perf_counter() - began)
    epoch = max(spent[1] - spent[0], 0.0) / (PROBED[1] - PROBED[0])
    return spent[1] + epoch * min(EPOCHS, study.training.max_epochs)


def _expected_repeats(study: StudyPlan, make_judge: MakeJudge) -> float:
    """Repeats of a search whose scores are pure chance, under the rungs that it will have."""
    rules = study.rules
    if not study.has_search:
        return 0.0
    if not rules.pruning:
        return float(study.trials * rules.repeats)
    draw = random.Random(0)
    return fmean(_simulated(study, make_judge, draw) for _ in range(SIMULATIONS))


def _simulated(study: StudyPlan, make_judge: MakeJudge, draw: random.Random) -> int:
    judge, total = make_judge(study.rules.repeats, study.rules.reduction, True), 0
    for trial in range(study.trials):
        quality = draw.random()
        for repeat in range(1, study.rules.repeats + 1):
            total += 1
            if not judge(trial, repeat, quality):
                break
    return total
