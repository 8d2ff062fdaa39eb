"""One training by the engine that its specification names, and which engine that is."""

import math
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from clar_tune.engine import cannot, has_numba, team_size
from clar_tune.errors import ParameterError, TrainingError
from clar_tune.graphs import Graph, SearchNodes
from clar_tune.models import Method, TensorGraph
from clar_tune.records import ENGINE_CHOICES, ENGINES, TrainRecord, TrainSpec
from clar_tune.training.loop import Report, train as train_by_torch
from clar_tune.validation import one_of

NO_NUMBA = "numba is not installed"
ON_PROCESSORS = "it trains on processors alone"


class Form(Protocol):
    """A graph as an engine takes it: torch a ``TensorGraph``, the native one an ``ArrayGraph``."""

    @property
    def num_outputs(self) -> int:
        """Classes, or targets."""

    @property
    def metric(self) -> str:
        """What answers are judged by."""


class Fit(Protocol):
    """A finished training, whichever engine did it."""

    @property
    def record(self) -> TrainRecord:
        """What came out of it."""

    @property
    def logits(self) -> Tensor:
        """[N, C] of the selected epoch, in evaluation mode; numbers in regression."""


class Choice(NamedTuple):
    """An engine, and why it is not the one that was asked for."""

    engine: str
    reason: str | None = None


def choose_engine(
    asked: str, method: Method, metric: str, select: str, device: str = "cpu"
) -> Choice:
    """The engine of a method's trainings; decided where a run is planned, and nowhere else.

    ``auto`` is native wherever that engine does such trainings; what it leaves to torch by design
    is then no reason to be told. A missing numba is one: it can be installed.

    Args:
        asked: one of ``ENGINE_CHOICES``.
        method: what is trained.
        metric: that of the graph.
        select: how an epoch is selected.
        device: where it is trained.
    """
    if one_of("engine", asked, ENGINE_CHOICES) == "torch":
        return Choice("torch")
    left = cannot(method.backbone, method.regularizer, metric, select)
    if device != "cpu":
        left = ON_PROCESSORS
    if left:
        return Choice("torch", None if asked == "auto" else left)
    return Choice("native") if has_numba() else Choice("torch", NO_NUMBA)


def form_of(graph: Graph, engine: str, device: torch.device | str = "cpu") -> Form:
    """A graph as an engine takes it, to be shared by its trainings in this process."""
    if one_of("engine", engine, ENGINES) == "torch":
        return TensorGraph.of(graph, device)
    from clar_tune.engine import ArrayGraph

    return ArrayGraph.of(graph)


def side_by_side(engine: str, backbone: str, threads: int, entries: int = 0) -> int:
    """How many trainings a process with some threads does at once, each in one of them.

    Torch has one generator for all, so that its trainings stay alone; random numbers of the native
    engine are the same beside others. On a large graph a training takes all threads itself.

    Args:
        engine: one of ``ENGINES``.
        backbone: what is trained.
        threads: those of a specification.
        entries: features that are not zero and edges of the graph.
    """
    return 1 if engine == "torch" else threads // team_size(backbone, threads, entries)


def make_ready(spec: TrainSpec, entries: int = 0) -> str | None:
    """Load or compile what a training needs, so that no time of it is spent on that.

    ``entries`` are those of its graph, as for :func:`side_by_side`. What keeps this process from
    doing what the specification says is given back.
    """
    if spec.engine == "torch":
        return None
    wrong = no_programs_here()
    if wrong is None:
        from clar_tune.engine import program_of

        try:
            program_of(spec.backbone, team_size(spec.backbone, spec.threads, entries))
        except TrainingError as error:
            wrong = str(error)
    return wrong


def no_programs_here() -> str | None:
    """What keeps this machine from running compiled programs at all; nothing if it can."""
    if not has_numba():
        return NO_NUMBA
    try:
        from clar_tune.engine import TARGET  # noqa: F401  it loads numba
    except (ImportError, OSError) as error:
        return f"numba cannot be loaded ({error})"
    return None


def cpu_of(spec: TrainSpec) -> str | None:
    """The processor that the program of a training is compiled for; none of torch's."""
    if spec.engine == "torch":
        return None
    from clar_tune.engine import TARGET

    return TARGET


def train(
    spec: TrainSpec,
    graph: Form,
    nodes: SearchNodes,
    report: Report | None = None,
    *,
    seconds: float = math.inf,
) -> Fit:
    """Train one configuration on one split; test nodes are not among its inputs.

    ``graph`` is in the form of the specification's engine, as :func:`form_of` gives it. After
    ``seconds`` the native engine stops; torch goes on.
    """
    by_torch = one_of("engine", spec.engine, ENGINES) == "torch"
    if by_torch != isinstance(graph, TensorGraph):
        raise ParameterError(
            f"engine {spec.engine}: it takes no {type(graph).__name__}. Give what form_of gives."
        )
    Method(spec.backbone, spec.regularizer).checked(spec.params)
    if isinstance(graph, TensorGraph):
        return train_by_torch(spec, graph, nodes, report)
    from clar_tune.training.native import train_natively

    return train_natively(spec, graph, nodes, report, seconds)
