"""What a training is refused for before anything of it enters a program, which checks nothing."""

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import ArrayGraph
from clar_tune.engine.scope import BACKBONES, METRICS, REGULARIZERS, cannot
from clar_tune.errors import ParameterError
from clar_tune.graphs import SearchNodes
from clar_tune.records import OPTIMIZERS, SELECTIONS, STOPS, TrainSpec
from clar_tune.validation import one_of, whole


def check_training(spec: TrainSpec, graph: ArrayGraph, nodes: SearchNodes) -> None:
    """Refuse rules, nodes and labels that no training can have."""
    reason = cannot(spec.backbone, spec.regularizer, graph.metric, spec.select)
    if reason:
        raise ParameterError(
            f"{reason}: the native engine does not train it. Choose the torch engine, or one of "
            f"{', '.join((*BACKBONES, *REGULARIZERS, *METRICS))}."
        )
    one_of("select", spec.select, SELECTIONS)
    one_of("stop", spec.stop, STOPS)
    one_of("optimizer", spec.optimizer, OPTIMIZERS)
    for name, value, low in (
        ("max_epochs", spec.max_epochs, 1),
        ("patience", spec.patience, 1),
        ("warmup", spec.warmup, 0),
        ("threads", spec.threads, 1),
        ("init_seed", spec.init_seed, 0),
    ):
        whole(name, value, low)
    if not len(nodes.train) or not len(nodes.val):
        raise ParameterError(
            f"{spec.graph}: nodes to train and to validate are needed, got {len(nodes.train)} "
            f"and {len(nodes.val)}. Choose another protocol."
        )
    for part in (nodes.train, nodes.val):
        _check_nodes(spec.graph, part, graph)


def _check_nodes(name: str, part: NDArray[np.int64], graph: ArrayGraph) -> None:
    """A number that is none of the graph would be written elsewhere in memory."""
    if part.min() < 0 or part.max() >= graph.num_nodes or len(np.unique(part)) < len(part):
        raise ParameterError(
            f"{name}: a split names nodes from {part.min()} to {part.max()}, each once; the graph "
            f"has those from 0 to {graph.num_nodes - 1}."
        )
    labels = graph.labels[part]
    if graph.targets is None and (labels.min() < 0 or labels.max() >= graph.num_outputs):
        raise ParameterError(
            f"{name}: classes from {labels.min()} to {labels.max()} are to be learned; there are "
            f"those from 0 to {graph.num_outputs - 1}."
        )
