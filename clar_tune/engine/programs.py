"""The compiled program of each backbone, made ready once per process."""

import threading
from collections.abc import Callable
from functools import cache
from typing import cast

import numpy as np
import scipy.sparse as sp

from clar_tune.engine import program
from clar_tune.engine.arrays import ArrayGraph
from clar_tune.engine.compiling import Program, sources
from clar_tune.engine.problem import Outcome
from clar_tune.engine.task import task_of
from clar_tune.graphs import Graph, SearchNodes
from clar_tune.records import TrainSpec

DEFAULTS = {
    **{"lr": 0.01, "weight_decay": 0.0, "dropout": 0.0, "hidden": 8, "layers": 2},
    **{"K": 1, "restart": 0.1, "heads": 1, "attention_dropout": 0.0},
}
"""Parameters of the training that a program is compiled by."""

_ONE_AT_A_TIME = threading.Lock()


def program_of(backbone: str) -> Callable[..., Outcome]:
    """The program of a backbone: compiled on the first call on a machine, then loaded."""
    with _ONE_AT_A_TIME:
        return cast(Callable[..., Outcome], _prepared(backbone).call)


@cache
def _prepared(backbone: str) -> Program:
    made = Program(program.train, backbone, sources())
    made.prepare(lambda call: call(*task_of(_spec(backbone), _pair(), _NODES).task))
    return made


_NODES = SearchNodes(train=np.array([0]), val=np.array([1]))


def _pair() -> ArrayGraph:
    """Two nodes and an edge."""
    return ArrayGraph.of(
        Graph(
            name="pair",
            features=sp.csr_array(np.eye(2, dtype=np.float32)),
            edges=np.array([[0, 1], [1, 0]]),
            labels=np.array([0, 1]),
        )
    )


def _spec(backbone: str) -> TrainSpec:
    nothing = {"graph": "pair", "graph_hash": "", "protocol": "", "split_seed": 0, "init_seed": 0}
    return TrainSpec(
        **nothing,  # type: ignore[arg-type]
        backbone=backbone,
        regularizer="none",
        params=DEFAULTS,
        max_epochs=1,
    )
