"""Short trainings that are timed: of the studies of a plan, or of this machine alone."""

import math
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from statistics import fmean

import numpy as np

from clar_tune.graphs import (
    Graph,
    SearchNodes,
    Spectrum,
    apply_variants,
    load,
    search_nodes,
    seed_pair,
)
from clar_tune.models import Method
from clar_tune.records import TrainSpec
from clar_tune.search.epoch_costs import seconds_per_epoch
from clar_tune.search.sizes import Size
from clar_tune.space import Plan, StudyPlan
from clar_tune.training import Form, form_of, make_ready, train, warm_up

EPOCHS = 6
"""Least epochs that are timed after the first, which prepares what is kept."""

CONDITIONS = 3
"""Most conditions of a method and graph that are probed; others take as long as the nearest."""

MACHINE = ("gcn", "gat")
"""Backbones by which a machine is judged: one takes most of its time for calls, one for sums."""

MACHINE_SECONDS = 0.4
"""Processor time that each of them gets."""

PROTOCOL = "balanced-60-20-20"


class _Enough(Exception):
    """Ends a training from inside its report."""


def machine_factor() -> float:
    """How many times as long an epoch takes here as on the machine of the table.

    By processor time, so that it tells of the machine and not of what else it does today.
    """
    warm_up()
    graph = load("csbm-homophily")
    form, size = form_of(graph, "torch"), Size.of(graph)
    seeds = seed_pair(graph.name, PROTOCOL, 0, 0, "repeat")
    ratios = []
    for backbone in MACHINE:
        method = Method(backbone, "none")
        spec = method.spec(graph, {"dropout": 0.5}, PROTOCOL, seeds)
        nodes = search_nodes(graph, PROTOCOL, spec.split_seed)
        spent = _epoch(spec, form, nodes, time.process_time, MACHINE_SECONDS)
        ratios.append(math.log(spent / seconds_per_epoch(method, spec.params, size)))
    return math.exp(fmean(ratios))


def probed_epochs(
    plan: Plan, graphs: Mapping[str, Graph], chosen: Collection[int]
) -> dict[int, float]:
    """Seconds of an epoch of some studies by their places in the plan, where the graph is here."""
    warm_up()
    found: dict[int, float] = {}
    for name, graph in graphs.items():
        own = [place for place in chosen if plan.studies[place].columns.graph == name]
        found |= _on(graph, plan, own)
    return found


def _on(graph: Graph, plan: Plan, places: Collection[int]) -> dict[int, float]:
    by_method: dict[str, list[int]] = {}
    for place in places:
        by_method.setdefault(plan.studies[place].columns.method, []).append(place)
    probed = {method: _spread(own) for method, own in by_method.items()}
    measured = _measured(graph, plan, list(chain(*probed.values())))
    return {
        place: measured[min(probed[method], key=lambda other: abs(other - place))]
        for method, own in by_method.items()
        for place in own
    }


def _spread(places: list[int]) -> list[int]:
    """The studies of a method that are probed: all of a few, some of many."""
    count = min(len(places), CONDITIONS)
    return [places[int(at)] for at in np.linspace(0, len(places) - 1, count).round()]


def _measured(graph: Graph, plan: Plan, places: list[int]) -> dict[int, float]:
    """Seconds of some studies; of each variant a form of the graph is made, one at a time."""
    by_variant: dict[str, list[int]] = {}
    for place in places:
        study = plan.studies[place]
        variant = study.engine, sorted(study.variant.items())
        by_variant.setdefault(str(variant), []).append(place)
    seconds: dict[int, float] = {}
    for alike in by_variant.values():
        first = plan.studies[alike[0]]
        like = apply_variants(graph, first.variant, first.seed, decompose=_no_spectrum)
        form = form_of(like, first.engine)
        seconds |= {place: _seconds(plan.studies[place], like, form) for place in alike}
    return seconds


def _no_spectrum(graph: Graph) -> Spectrum:
    """Frequencies that no graph has: the time of a training depends on its sizes alone."""
    n = graph.num_nodes
    return Spectrum(np.linspace(0, 2, n), np.eye(n, dtype=np.float32))


def _seconds(study: StudyPlan, graph: Graph, form: Form) -> float:
    """One epoch of a middling configuration."""
    params = study.parameters.at([0.5] * len(study.parameters.searched))
    seeds = seed_pair(graph.name, study.columns.protocol, study.seed, 0, "repeat")
    rules = {"threads": study.threads, "engine": study.engine}
    spec = study.method.spec(graph, params, study.columns.protocol, seeds, **rules)
    nodes = search_nodes(graph, spec.protocol, spec.split_seed, study.outer_test)
    make_ready(spec, Size.of(graph).stored)
    return _epoch(spec, form, nodes, time.perf_counter)


def _epoch(
    spec: TrainSpec,
    form: Form,
    nodes: SearchNodes,
    clock: Callable[[], float],
    at_least: float = 0.0,
) -> float:
    """The mean time of an epoch of a training that goes on until there are enough."""
    ends: list[tuple[int, float]] = []  # the native engine tells of some epochs alone

    def report(epoch: int, *_: float) -> None:
        ends.append((epoch, clock()))
        if epoch - ends[0][0] >= EPOCHS and ends[-1][1] - ends[0][1] >= at_least:
            raise _Enough

    without_end = replace(spec, max_epochs=10**6, patience=10**6)
    with suppress(_Enough):
        train(without_end, form, nodes, report)
    (first, began), (last, ended) = ends[0], ends[-1]
    return (ended - began) / (last - first)
