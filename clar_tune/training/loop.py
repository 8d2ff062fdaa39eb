"""One training: specification and graph in, record out. Knows no Ray, no files."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from clar_tune.errors import Diverged, ParameterError, WrongShape
from clar_tune.graphs import SearchNodes, threads
from clar_tune.metric import metric_named
from clar_tune.models import (
    Adjacency,
    Method,
    Model,
    Penalty,
    Regularizer,
    TensorGraph,
)
from clar_tune.records import (
    Params,
    TermRecord,
    TrainRecord,
    TrainSpec,
)
from clar_tune.seeds import seed_for
from clar_tune.spec_checks import check_rules
from clar_tune.training.corrections import corrected
from clar_tune.training.objectives import objective_of
from clar_tune.training.penalty_counts import PenaltyCounts

Report = Callable[[int, float, float], None]
"""Called after every epoch with its number, its validation loss and the best score so far."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A finished training: its record, and the model at its selected epoch."""

    record: TrainRecord
    model: Model
    logits: Tensor  # [N, C] of the selected epoch, in evaluation mode; numbers in regression


def train(
    spec: TrainSpec, graph: TensorGraph, nodes: SearchNodes, report: Report | None = None
) -> Fit:
    """Train one configuration on one split; test nodes are not among its inputs.

    Weights start from ``spec.init_seed``, whatever the regularizer, and so does dropout: with
    weights of zero a regularizer gives the plain backbone's numbers to the last digit.
    """
    check_rules(spec, len(nodes.train), len(nodes.val))
    if graph.device.type != spec.device:
        raise ParameterError(
            f"device {spec.device}: the graph's tensors are on {graph.device}. Put them there."
        )
    method = Method(spec.backbone, spec.regularizer)
    regularizer = method.build_regularizer(spec.params)
    started = time.perf_counter()
    with threads(spec.threads), torch.random.fork_rng(_cuda_devices(graph)):
        fits = list(_rounds(spec, graph, nodes, method, regularizer, report))
    metric = metric_named(graph.metric)
    best = max(fits, key=lambda fit: metric.rank(fit.record.val_score))
    record = replace(
        best.record,
        epochs=sum(fit.record.epochs for fit in fits),
        seconds=time.perf_counter() - started,
        facts={
            **best.model.facts(),
            **regularizer.facts(graph.adjacency.symmetrised),
            **best.record.facts,
        },
    )
    return replace(best, record=record)


def warm_up() -> None:
    """Let torch load what it loads with its first optimiser, before a training is timed."""
    weight = torch.zeros(1, requires_grad=True)
    weight.grad = torch.zeros(1)
    torch.optim.Adam([weight], fused=True).step()


def _rounds(
    spec: TrainSpec,
    graph: TensorGraph,
    nodes: SearchNodes,
    method: Method,
    regularizer: Regularizer,
    report: Report | None,
) -> Iterator[Fit]:
    """Train from scratch as often as the regularizer asks, each time on the graph it gives."""
    draw = torch.Generator(graph.device).manual_seed(seed_for("regularizer", spec.init_seed))
    adjacency, params = graph.adjacency, spec.params
    for number in range(1, regularizer.rounds + 1):
        torch.manual_seed(spec.init_seed)
        model = method.build_model(graph, params).to(graph.device)
        optimizer = _adam(model, params)
        torch.manual_seed(seed_for("dropout", spec.init_seed))
        trained = _Round(spec, graph, nodes, adjacency, model, optimizer, regularizer, draw)
        fit = trained.run(report)
        yield replace(fit, record=replace(fit.record, round=number))
        if number < regularizer.rounds:
            adjacency = regularizer.rewired(adjacency, fit.logits, draw)


@dataclass
class _Best:
    """The selected epoch so far."""

    epoch: int = 0
    score: float = -math.inf
    loss: float = math.inf
    weights: list[Tensor] = field(default_factory=list)
    terms: dict[str, float] = field(default_factory=dict)


class _Round:
    """One model trained once."""

    def __init__(
        self,
        spec: TrainSpec,
        graph: TensorGraph,
        nodes: SearchNodes,
        adjacency: Adjacency,
        model: Model,
        optimizer: torch.optim.Optimizer,
        regularizer: Regularizer,
        draw: torch.Generator,
    ) -> None:
        self.spec, self.graph, self.adjacency = spec, graph, adjacency
        self.model, self.optimizer = model, optimizer
        self.regularizer, self.draw = regularizer, draw
        self.nodes, self.objective = nodes, objective_of(graph, nodes)
        self.parameters = list(model.parameters())
        self.state = [tensor.detach() for tensor in model.state_dict().values()]  # shared memory
        # Without randomness in the model, the pass that evaluates one epoch is the pass that
        # trains the next: computed once.
        self.one_pass = model.deterministic and not regularizer.changes_epochs
        self.best = _Best()
        self.counts = PenaltyCounts()

    def run(self, report: Report | None) -> Fit:
        """Train to the end; keep the weights of the selected epoch."""
        logits = self._checked(self._training_pass())
        read = self.objective.read(logits)
        for epoch in range(1, self.spec.max_epochs + 1):
            penalty = self._step(logits, read)
            logits, read = self._evaluation_pass()
            self._judge(epoch, logits.detach(), read.detach(), penalty)
            if report:
                report(epoch, self.val_loss, self.best.score)
            if self._is_over(epoch):
                break
            if not self.one_pass:
                logits = self._training_pass()
                read = self.objective.read(logits)
        return self._finish(epoch)

    def _is_over(self, epoch: int) -> bool:
        """Whether patience has passed, and the warm-up with it.

        By the rule ``patience`` no epoch within the warm-up is the last one. By ``released``, the
        rule of the code released with the paper, no *best* epoch lies within it: while the best
        one is early, training goes on.
        """
        spec, best = self.spec, self.best.epoch
        warm = epoch >= spec.warmup if spec.stop == "patience" else best > spec.warmup
        return warm and epoch - best >= spec.patience

    def _training_pass(self) -> Tensor:
        self.model.train()
        adjacency = self.regularizer.epoch_graph(self.adjacency, self.draw)
        logits: Tensor = self.model(self.graph, adjacency)
        return logits

    def _evaluation_pass(self) -> tuple[Tensor, Tensor]:
        if not self.one_pass:
            self.model.eval()
        with torch.set_grad_enabled(self.one_pass):
            logits: Tensor = self.model(self.graph, self.adjacency)
            return logits, self.objective.read(logits)

    def _checked(self, logits: Tensor) -> Tensor:
        wanted = (len(self.graph.labels), self.graph.num_outputs)
        if not isinstance(logits, Tensor) or tuple(logits.shape) != wanted:
            given = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise WrongShape(
                f"{self.spec.backbone}: logits of shape {wanted} (nodes, classes) are needed, "
                f"got {given}."
            )
        return logits

    def _step(self, logits: Tensor, read: Tensor) -> Penalty | None:
        """One step of the optimiser."""
        loss = self.objective.train_loss(read)
        penalty = self.regularizer.penalty(logits, self.adjacency.symmetrised, self.draw)
        if penalty is not None:
            loss = loss + penalty.loss
        for parameter in self.parameters:
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.loss = loss.detach()
        return penalty

    def _judge(self, epoch: int, logits: Tensor, read: Tensor, penalty: Penalty | None) -> None:
        """Compare this epoch with the best so far; refuse numbers that are none."""
        losses = torch.stack([self.loss, self.objective.val_loss(read)])
        terms = {}
        if penalty is None:
            numbers = losses.tolist()
        else:
            numbers = torch.cat([losses, penalty.values]).tolist()
            terms = dict(zip(penalty.names, numbers[2:], strict=True))
            self.counts.add(terms, penalty)
        self._refuse_infinite(epoch, numbers, terms)
        self.val_loss = numbers[1]
        by_score = self.spec.select == "accuracy"
        if not by_score and self.val_loss >= self.best.loss:
            return
        current = self.objective.val_score(logits)
        if by_score and (current, -self.val_loss) <= (self.best.score, -self.best.loss):
            return
        self._remember(epoch, current, terms)

    def _remember(self, epoch: int, current: float, terms: dict[str, float]) -> None:
        weights = self.best.weights or [torch.empty_like(tensor) for tensor in self.state]
        for kept, tensor in zip(weights, self.state, strict=True):
            kept.copy_(tensor)
        self.best = _Best(epoch, current, self.val_loss, weights, terms)

    def _refuse_infinite(self, epoch: int, numbers: list[float], terms: dict[str, float]) -> None:
        if all(map(math.isfinite, numbers)):
            return
        names = ["training loss", "validation loss", *(f"penalty {name}" for name in terms)]
        name, value = next(
            pair for pair in zip(names, numbers, strict=True) if not math.isfinite(pair[1])
        )
        raise Diverged(
            f"{name} became {value} in epoch {epoch} of {self.spec.backbone} with "
            f"{self.spec.regularizer} on {self.spec.graph}. Lower the learning rate or the "
            "penalty's weights."
        )

    def _finish(self, epochs: int) -> Fit:
        for tensor, kept in zip(self.state, self.best.weights, strict=True):
            tensor.copy_(kept)
        self.model.eval()
        with torch.no_grad():
            logits = self.model(self.graph, self.adjacency)
        terms = {
            name: TermRecord(value=self.best.terms[name], active=count.active / epochs)
            for name, count in self.counts.terms.items()
        }
        record = TrainRecord(
            key=self.spec.key,
            metric=self.graph.metric,
            val_score=self.best.score,
            val_loss=self.best.loss,
            epochs=epochs,
            best_epoch=self.best.epoch,
            seconds=0.0,
            train_nodes=len(self.nodes.train),
            val_nodes=len(self.nodes.val),
            penalty_active=self._share("active", epochs),
            penalty_above=self._share("above", epochs),
            penalty_zero=self._share("zero", epochs),
            terms=terms,
        )
        fit = Fit(record, self.model, logits)
        if not self.regularizer.corrects:
            return fit
        record, logits = corrected(self.regularizer, record, logits, self.graph, self.nodes)
        return Fit(record, self.model, logits)

    def _share(self, count: str, epochs: int) -> float | None:
        """The fraction of epochs of the term that has the largest one; none without a penalty."""
        return self.counts.most(count) / epochs if self.regularizer.has_penalty else None


def _adam(model: Model, params: Params) -> torch.optim.Adam:
    groups = model.parameter_groups(float(params["weight_decay"]))  # type: ignore[arg-type]
    return torch.optim.Adam(groups, lr=float(params["lr"]), fused=True)  # type: ignore[arg-type]


def _cuda_devices(graph: TensorGraph) -> list[torch.device]:
    return [graph.device] if graph.device.type == "cuda" else []
