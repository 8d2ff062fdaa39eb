"""How long a plan takes, judged by a few epochs of each of its methods on this machine."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from clar_tune.course import MakeJudge
from clar_tune.graph import Graph
from clar_tune.plan import Plan, StudyPlan
from clar_tune.splits import pair, search_nodes
from clar_tune.tensors import TensorGraph
from clar_tune.training import train, warm_up

EPOCHS = 300
"""Epochs that a training is assumed to take: 257 on cornell and 345 on texas, on average."""

PROBED = (2, 6)
"""Epochs of the two short trainings whose difference gives the time of one epoch."""

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
    """One estimate per study; studies that differ in their condition alone are probed once."""
    warm_up()
    seconds: dict[tuple[str, str], float] = {}
    repeats: dict[object, float] = {}
    found = []
    tensors: tuple[str, TensorGraph] | None = None
    for study in plan.studies:
        name, probe = study.columns.graph, (study.columns.graph, study.columns.method)
        if name in graphs and probe not in seconds:
            if tensors is None or tensors[0] != name:
                tensors = name, TensorGraph.of(graphs[name])
            seconds[probe] = _seconds(study, graphs[name], tensors[1])
        rules = (study.rules, study.trials, study.searches)
        if rules not in repeats:
            repeats[rules] = _expected_repeats(study, make_judge)
        most = study.trials * study.rules.repeats if study.searches else 0
        expected = repeats[rules] + study.finals
        found.append(Estimate(study, most + study.finals, expected, seconds.get(probe)))
    return found


def _seconds(study: StudyPlan, graph: Graph, tensors: TensorGraph) -> float:
    """One training of a middling configuration: what it needs to start, and its epochs."""
    params = study.parameters.at([0.5] * len(study.parameters.searched))
    seeds = pair(graph.name, study.columns.protocol, study.seed, 0, "repeat")
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
    if not study.searches:
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
