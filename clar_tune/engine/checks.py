"""What a training is refused for before anything of it enters a program, which checks nothing."""

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import ArrayGraph
from clar_tune.engine.scope import BACKBONES, METRICS, REGULARIZERS, cannot
from clar_tune.errors import ParameterError
from clar_tune.graphs import SearchNodes
from clar_tune.records import TrainSpec
from clar_tune.spec_checks import check_rules
from clar_tune.validation import whole


def check_training(spec: TrainSpec, graph: ArrayGraph, nodes: SearchNodes) -> None:
    """Refuse rules, nodes and labels that no training can have."""
    reason = cannot(spec.backbone, spec.regularizer, graph.metric, spec.select)
    if reason:
        raise ParameterError(
            f"{reason}: the native engine does not train it. Choose the torch engine, or one of "
            f"{', '.join((*BACKBONES, *REGULARIZERS, *METRICS))}."
        )
    check_rules(spec, len(nodes.train), len(nodes.val))
    whole("init_seed", spec.init_seed, 0)
    for part in (nodes.train, nodes.val):
        _check_nodes(spec.graph, part, graph)


def _check_nodes(name: str, part: NDArray[np.int64], graph: ArrayGraph) -> None:
    """A number that is none of the graph would be written elsewhere in memory."""
    different = len(np.unique(part))
    if part.min() < 0 or part.max() >= graph.num_nodes or different < len(part):
        raise ParameterError(
            f"{name}: a split needs different nodes from 0 to {graph.num_nodes - 1}; it names "
            f"{len(part)} from {part.min()} to {part.max()}, {different} of them different."
        )
    labels = graph.labels[part]
    if graph.targets is None and (labels.min() < 0 or labels.max() >= graph.num_outputs):
        raise ParameterError(
            f"{name}: classes from {labels.min()} to {labels.max()} are to be learned; there are "
            f"those from 0 to {graph.num_outputs - 1}."
        )
