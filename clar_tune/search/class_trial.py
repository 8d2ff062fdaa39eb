"""A user's own classes, each built and trained for an epoch before a run depends on it."""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np
import scipy.sparse as sp

from clar_tune.errors import Diverged, TrainingError
from clar_tune.graphs import Graph, Lookup, search_nodes
from clar_tune.search.estimate import is_own
from clar_tune.search.jobs import one_line_error
from clar_tune.space import Plan, StudyPlan
from clar_tune.training import form_of, train

PROTOCOL = "random-60-20-20"
NODES_PER_CLASS = 5
"""Enough of each class for a split."""


def try_classes(plans: Iterable[Plan]) -> None:
    """Refuse a class that cannot be built, or whose logits or penalty cannot be trained.

    Each method with a class of the user's is trained once, on a ring that stands for its graph.
    """
    tried = set[str]()
    for lookup, study in ((plan.space.lookup, one) for plan in plans for one in plan.studies):
        if is_own(study) and study.columns.method not in tried:
            tried.add(study.columns.method)
            _try(study, lookup)


def _try(study: StudyPlan, lookup: Lookup) -> None:
    """One epoch of a middling configuration; what numbers come out does not matter."""
    graph = _ring_for(study.columns.graph, lookup)
    try:
        params = study.parameters.at([0.5] * len(study.parameters.searched))
        spec = study.method.spec(graph, params, PROTOCOL, (0, 0), max_epochs=1)
        with suppress(Diverged):
            train(spec, form_of(graph, spec.engine), search_nodes(graph, PROTOCOL, 0))
    except Exception as error:  # a user's class may raise anything
        reason = " ".join(one_line_error(error).split())
        name = study.columns.method
        told = reason if reason.startswith(name) else f"{name}: {reason}"
        raise TrainingError(told) from error


def _ring_for(name: str, lookup: Lookup) -> Graph:
    """A ring with as many features and classes as a graph, whose file need not be here."""
    facts = lookup.dataset(name).facts
    count = NODES_PER_CLASS * max(facts.classes, 2)
    nodes = np.arange(count)
    there = np.stack([nodes, np.roll(nodes, 1)])
    features = np.random.default_rng(0).random((count, facts.features), dtype=np.float32)
    return Graph(
        name=name,
        features=sp.csr_array(features),
        edges=np.concatenate([there, there[::-1]], axis=1),
        labels=nodes % max(facts.classes, 1),
    )
