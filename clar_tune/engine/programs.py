"""The compiled program of each backbone, made ready once per process."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import cast

import numpy as np
import scipy.sparse as sp

from clar_tune.engine.arrays import ArrayGraph
from clar_tune.engine.compiling import (
    SOURCES,
    Program,
    cache_folder,
    may_use_cache,
    warn_of_cache,
)
from clar_tune.engine.problem import Outcome
from clar_tune.engine.program import train
from clar_tune.engine.task import task_of
from clar_tune.engine.teams import Alone, Team, turn
from clar_tune.errors import TrainingError
from clar_tune.graphs import Graph, SearchNodes
from clar_tune.records import TrainSpec

DEFAULTS = {
    **{"lr": 0.01, "weight_decay": 0.0, "dropout": 0.0, "hidden": 8, "layers": 2},
    **{"K": 1, "restart": 0.1, "heads": 1, "attention_dropout": 0.0},
}
"""Parameters of the training that a program is compiled by."""

SHARED = "-shared"
"""What ends the name of a program whose kernels several threads share."""

COMPILE = "from clar_tune.engine.programs import compile_here; compile_here({name!r})"
IN_A_CHILD = ("-P", "-W", "ignore", "-c")
"""Without the current folder among modules; what is wrong with the cache is said once, here."""

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
        return cast(Callable[..., Outcome], _loaded(name).call)


def uncompiled(names: Iterable[str]) -> list[str]:
    """Those programs that cannot be loaded from this machine's cache."""
    made = map(_program, names)
    return [one.name for one in made if not one.loadable]


@contextmanager
def compilation(names: Iterable[str], folder: str | None = None) -> Iterator[Callable[[], None]]:
    """Compile programs into this machine's cache, as many at once as there are processors.

    The body goes on meanwhile, and is given what waits for the last; what it did not wait for is
    ended. Each is compiled in a process of its own: one compiles one at a time, and does not
    train by what it compiled (see :class:`~clar_tune.engine.compiling.Program`). What a failed one
    leaves out is compiled where it is needed. ``folder`` takes the place of the cache.
    """
    waiting, running = list(names), list[subprocess.Popen[bytes]]()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if folder:
        environment["NUMBA_CACHE_DIR"] = folder

    def start() -> None:
        while waiting and len(running) < len(os.sched_getaffinity(0)):
            command = [sys.executable, *IN_A_CHILD, COMPILE.format(name=waiting.pop(0))]
            running.append(subprocess.Popen(command, env=environment))

    def finish() -> None:
        while running:
            running.pop(0).wait()
            start()

    try:
        start()
        yield finish
    finally:
        for process in running:
            process.terminate()
            process.wait()


def compile_all(names: Iterable[str], folder: str | None = None) -> None:
    """Compile programs, and wait for them."""
    with compilation(names, folder) as finish:
        finish()


def compile_here(name: str) -> None:
    """Compile a program into the cache; for processes that do nothing else."""
    _program(name).prepare(partial(_warm, name))


@cache
def _loaded(name: str) -> Program:
    program, warm = _program(name), partial(_warm, name)
    if program.load(warm):
        return program
    if not SOURCES.unchanged:
        raise TrainingError(
            "sources of the native engine were edited since this process began: begin it anew."
        )
    if may_use_cache():
        compile_all([name])
        if program.load(warm):
            return program
    warn_of_cache(name)
    with tempfile.TemporaryDirectory() as folder:
        compile_all([name], folder)
        program.file = cache_folder(folder) / program.file.name
        if not program.load(warm):
            raise TrainingError(
                f"{name} could not be compiled. With --engine torch nothing is compiled."
            )
    return program


def _program(name: str) -> Program:
    return Program(train, name, SOURCES)


def _warm(name: str, call: Callable[..., Outcome]) -> None:
    """Call a program with small arguments of the types that it will get."""
    team = Team(2) if name.endswith(SHARED) else Alone(1)
    with turn(team):
        call(*task_of(_spec(name.removesuffix(SHARED)), _pair(), _NODES, team=team).task)


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
