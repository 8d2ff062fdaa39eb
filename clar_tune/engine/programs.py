"""The compiled program of each backbone, made ready once per process."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import cast

import numpy as np
import scipy.sparse as sp

from clar_tune.engine import program
from clar_tune.engine.arrays import ArrayGraph
from clar_tune.engine.compiling import SOURCES, Program
from clar_tune.engine.problem import Outcome
from clar_tune.engine.task import task_of
from clar_tune.engine.teams import Alone, Team, turn
from clar_tune.graphs import Graph, SearchNodes
from clar_tune.records import TrainSpec

DEFAULTS = {
    **{"lr": 0.01, "weight_decay": 0.0, "dropout": 0.0, "hidden": 8, "layers": 2},
    **{"K": 1, "restart": 0.1, "heads": 1, "attention_dropout": 0.0},
}
"""Parameters of the training that a program is compiled by."""

SHARED = "-shared"
"""What ends the name of a program whose kernels several threads share."""

_ONE_AT_A_TIME = threading.Lock()


def program_of(backbone: str, team: int = 1) -> Callable[..., Outcome]:
    """The program of a backbone: compiled on the first call on a machine, then loaded.

    Where more than one thread shares its kernels it is another one, which threads call in turn.
    """
    return program_named(name_of(backbone, team))


def name_of(backbone: str, team: int = 1) -> str:
    """The name of a backbone's program."""
    return backbone if team == 1 else f"{backbone}{SHARED}"


def program_named(name: str) -> Callable[..., Outcome]:
    """The program with a name."""
    with _ONE_AT_A_TIME:
        return cast(Callable[..., Outcome], _prepared(name).call)


def uncompiled(names: Iterable[str]) -> list[str]:
    """Those programs that cannot be loaded from this machine's cache."""
    made = [Program(program.train, name, SOURCES) for name in names]
    return [one.name for one in made if not one.loadable]


def compile_all(names: Iterable[str]) -> None:
    """Compile programs into this machine's cache, as many at once as there are processors.

    Each in a process of its own, as one compiles one at a time; what a failed one leaves out is
    compiled where it is needed.
    """
    waiting, running = list(names), list[subprocess.Popen[bytes]]()
    try:
        while waiting or running:
            while waiting and len(running) < len(os.sched_getaffinity(0)):
                name = waiting.pop(0)
                code = f"from clar_tune.engine import program_named; program_named({name!r})"
                running.append(subprocess.Popen([sys.executable, "-c", code]))
            running.pop(0).wait()
    finally:
        for process in running:
            process.terminate()
            process.wait()


@cache
def _prepared(name: str) -> Program:
    made, backbone = Program(program.train, name, SOURCES), name.removesuffix(SHARED)
    team = Team(2) if name.endswith(SHARED) else Alone(1)

    def warm(call: Callable[..., Outcome]) -> None:
        with turn(team):
            call(*task_of(_spec(backbone), _pair(), _NODES, team=team).task)

    made.prepare(warm)
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
