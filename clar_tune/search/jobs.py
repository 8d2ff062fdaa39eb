"""Jobs of workers: the trainings of one trial, or one final; what is sent back from each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from traceback import extract_tb

from clar_tune.errors import ClarTuneError, Diverged, GraphError, Stopped
from clar_tune.graphs import Graph, search_nodes
from clar_tune.records import HINTS, TrainRecord, TrainSpec, Value
from clar_tune.search.hosts import Task
from clar_tune.search.process_errors import (
    BrokenProcess,
    breaks_process,
    is_out_of_memory,
    users_frame,
)
from clar_tune.training import Form, cpu_of, release_memory, test_count, test_scores, train

LONGEST_ERROR = 2000
"""Characters of an error text that are kept."""

TIME_LIMIT = "stopped at the time limit (--trial-timeout)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Trainings of one configuration, one after another."""

    study: int
    """The study's place in the plan."""
    trial: int
    purpose: str
    """``repeat`` in the search, ``final`` in the confirmation."""
    first: int
    """Number of the first training."""
    specs: tuple[TrainSpec, ...]
    """What each training is, the first one first."""
    variant: Mapping[str, Value]
    """What is changed of the graph before it is trained on."""
    seed: int
    """What a variant is drawn with."""
    timeout: float
    """Seconds that the trial may still train."""
    avoid: frozenset[str] = frozenset()
    """Hosts that it is not to be done on."""
    alone: bool = False
    """Whether it gets a whole GPU: it asked a share for more memory than that had."""

    @property
    def spec(self) -> TrainSpec:
        """The first training: all have its graph, method and parameters."""
        return self.specs[0]

    @property
    def task(self) -> Task:
        """What it is, however often it is handed out."""
        return self.study, self.trial, self.told(self.first) if self.purpose == "final" else None

    @property
    def last(self) -> int:
        """Number after that of the last training."""
        return self.first + len(self.specs)

    @property
    def arm(self) -> str:
        """The arm of a final."""
        return self.spec.arm

    def told(self, index: int) -> str:
        """Training number ``index`` for people: ``repeat 2``, ``final 3``, ``final 3 of off``."""
        return f"{self.purpose} {index}" + ("" if self.arm == "on" else f" of {self.arm}")

    def spec_of(self, index: int) -> TrainSpec:
        """Training number ``index``."""
        return self.specs[index - self.first]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """One finished training."""

    index: int
    spec: TrainSpec
    record: TrainRecord
    started: datetime
    device: str
    cpu: str | None = None
    """What its program was compiled for."""
    test_nodes: int = 0
    test_score: float | None = None
    test_balanced: float | None = None
    floor: float | None = None
    correct: bytes | None = None
    tested: bytes | None = None
    shift: float | None = None
    balanced_floor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A training that gave no number."""

    index: int
    kind: str
    """``diverged``, ``memory``, ``time`` or ``error``."""
    text: str

    @property
    def hints(self) -> bool:
        """Whether the parameters are to blame, so that a sampler should keep away from them."""
        return self.kind in HINTS


Outcome = TrainingResult | Failure


class OutOfTime(Exception):
    """A trial that reached its time limit."""


def perform(job: Job, index: int, graph: Graph, form: Form, seconds: float = math.inf) -> Outcome:
    """Do training number ``index`` of a job on its varied graph, in the form of its engine.

    The native engine heeds ``seconds``; torch is stopped by a signal. Whatever goes wrong with the
    training comes back as a value. Of a process that went bad nothing comes back: that raises, so
    that the worker is lost and the job is done elsewhere.
    """
    try:
        return trained(job.spec_of(index), job.purpose, index, graph, form, seconds)
    except Stopped:
        return out_of_time(index)
    except Exception as error:  # a user's model may raise anything
        return failed(index, error)


def failed(index: int, error: Exception) -> Failure:
    """A training that an error ended; an error of the process is raised as such."""
    if breaks_process(error):
        raise BrokenProcess(" ".join(one_line_error(error).split())) from error
    release_memory()
    return Failure(index=index, kind=_kind(error), text=one_line_error(error))


def out_of_time(index: int) -> Failure:
    """A trial that reached its time limit."""
    return Failure(index=index, kind="time", text=TIME_LIMIT)


def trained(
    spec: TrainSpec,
    purpose: str,
    index: int,
    graph: Graph,
    form: Form,
    seconds: float = math.inf,
) -> TrainingResult:
    """One training; only a final is scored on test nodes."""
    if graph.hash != spec.graph_hash:
        raise GraphError(
            f"{spec.graph}: its content here is {graph.hash}, the training asks for "
            f"{spec.graph_hash}."
        )
    started = datetime.now(UTC)
    nodes = search_nodes(graph, spec.protocol, spec.split_seed, spec.outer_test)
    fit = train(spec, form, nodes, seconds=seconds)
    done = TrainingResult(
        index=index,
        spec=spec,
        record=fit.record,
        started=started,
        device=spec.device,
        cpu=cpu_of(spec),
        test_nodes=test_count(spec, graph),
    )
    if purpose != "final":
        return done
    tested = test_scores(fit, spec, graph)
    return replace(
        done,
        test_score=tested.score,
        test_balanced=tested.balanced,
        floor=tested.floor,
        correct=tested.correct,
        tested=tested.tested,
        shift=tested.shift,
        balanced_floor=tested.balanced_floor,
    )


def one_line_error(error: Exception) -> str:
    """An error in one line, with its place, in the user's own file, where it was not foreseen."""
    if isinstance(error, ClarTuneError | OutOfTime):
        return str(error)[:LONGEST_ERROR]
    frame = users_frame(error) or extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"{type(error).__name__} at {place}: {error}"[:LONGEST_ERROR]


def _kind(error: Exception) -> str:
    if isinstance(error, Diverged):
        return "diverged"
    if isinstance(error, OutOfTime):
        return "time"
    return "memory" if is_out_of_memory(error) else "error"
