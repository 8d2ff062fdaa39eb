"""Check (b): gradients and short trainings against the CPU in double precision."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from clar_tune.device_check.cases import Case
from clar_tune.device_check.findings import Finding
from clar_tune.device_check.same_draws import SameDraws
from clar_tune.errors import ClarTuneError
from clar_tune.graphs import Graph, load, search_nodes
from clar_tune.models import Adjacency, Csr, TensorGraph, device_forms
from clar_tune.records import Params
from clar_tune.training import objective_of

EPOCHS = 20
GRADIENT = 1e-3
"""How far the first gradient, or that of its penalty, may be off beside its largest entry."""
LOSS = 1e-3
"""How far losses may be off after 20 epochs, relative to the first: rounding errors grow."""

GRAPH, PROTOCOL, SEED = "csbm-homophily", "balanced-60-20-20", 1
CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Course:
    """A short training: its first gradients, its losses, and the graph of a second round."""

    gradient: Tensor  # of the loss, all parameters in one row, double, on the CPU
    penalty: Tensor  # of the penalty alone, which may be small beside it; one zero without
    losses: Tensor  # [epochs], double, on the CPU
    rewired: Tensor  # [2, edges], on the CPU


def check_numbers(cases: Sequence[Case], device: torch.device, epochs: int = EPOCHS) -> Finding:
    """Train every case here and there, without dropout, from the same weights and draws."""
    graph, wrong, worst = load(GRAPH), [], {"gradient": 0.0, "loss": 0.0}
    for case in cases:
        try:
            off = deviation(case, graph, device, epochs)
        except (ClarTuneError, RuntimeError) as error:
            wrong.append(f"{case}: {str(error).splitlines()[0]}")
            continue
        worst = {name: max(value, off[name]) for name, value in worst.items()}
        wrong += [
            f"{case}: {name} off by {off[name]:.2g}"
            for name, most in (("gradient", GRADIENT), ("loss", LOSS))
            if not off[name] <= most
        ]
        if off["edges"]:
            wrong.append(f"{case}: a second round would have other edges")
    found = (
        f"{len(cases)} methods, gradient and {epochs} epochs against the CPU in float64: off by "
        f"at most {worst['gradient']:.1e} (allowed {GRADIENT:g}) and {worst['loss']:.1e} "
        f"(allowed {LOSS:g})"
    )
    return Finding(
        check="numbers",
        ok=not wrong,
        found="; ".join(wrong) or found,
        values={"cases": len(cases), "wrong": wrong, **worst},
    )


def deviation(case: Case, graph: Graph, device: torch.device, epochs: int) -> dict[str, float]:
    """How far a device is from the CPU in double precision."""
    there = course(case, graph, device, torch.float32, epochs, forms=True)
    # Forms draw a complement by other calls, so that both sides must take the same one.
    forms = case.method.regularizer == "clar"
    exact = course(case, graph, CPU, torch.float64, epochs, forms=forms)
    return {
        "gradient": max(
            _relative(there.gradient, exact.gradient), _relative(there.penalty, exact.penalty)
        ),
        "loss": _largest(there.losses - exact.losses) / max(abs(float(exact.losses[0])), 1.0),
        "edges": float(not torch.equal(there.rewired, exact.rewired)),
    }


def course(
    case: Case, graph: Graph, device: torch.device, dtype: torch.dtype, epochs: int, *, forms: bool
) -> Course:
    """Train a case for some epochs; only rounding errors may depend on where and how precisely."""
    params, nodes = case.complete(dropout=0.0), search_nodes(graph, PROTOCOL, SEED)
    regularizer = case.method.build_regularizer(params)
    with device_forms() if forms else nullcontext(), torch.random.fork_rng([]), SameDraws(SEED):
        tensors = _in(dtype, TensorGraph.of(graph, device))
        draw = torch.Generator(device).manual_seed(SEED)
        torch.manual_seed(SEED)
        model = case.method.build_model(tensors, params).to(device, dtype)
        optimizer = torch.optim.Adam(model.parameter_groups(5e-4), lr=0.01, fused=True)
        objective, losses, weights = objective_of(tensors, nodes), [], list(model.parameters())
        gradient = penalty_gradient = torch.zeros(1, dtype=torch.float64)
        for epoch in range(epochs):
            logits = model(tensors, regularizer.epoch_graph(tensors.adjacency, draw))
            loss = objective.train_loss(objective.read(logits))
            penalty = regularizer.penalty(logits, tensors.adjacency.symmetrised, draw)
            if penalty is not None:
                loss = loss + penalty.loss
                if not epoch:
                    penalty_gradient = _gradient(penalty.loss, weights)
            if not epoch:
                gradient = _gradient(loss, weights)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.detach())
        rewired = _rewired(case, params, tensors.adjacency, draw)
    return Course(gradient, penalty_gradient, torch.stack(losses).double().cpu(), rewired)


def _rewired(case: Case, params: Params, graph: Adjacency, draw: torch.Generator) -> Tensor:
    """The graph of a second round, by predictions that are the same everywhere."""
    drawn = torch.Generator().manual_seed(SEED)
    logits = 4 * torch.randn(graph.num_nodes, 4, generator=drawn).to(graph.device)
    regularizer = case.method.build_regularizer(params)
    return regularizer.rewired(graph, logits, draw).edge_index.cpu()


def _in(dtype: torch.dtype, tensors: TensorGraph) -> TensorGraph:
    x = tensors.x
    if isinstance(x, Tensor):
        return replace(tensors, x=x.to(dtype))
    return replace(tensors, x=Csr(x.pattern, x.values.to(dtype)))


def _gradient(loss: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """The gradient in all weights as one row; the graph of the calculation stays."""
    parts = torch.autograd.grad(loss, weights, retain_graph=True, materialize_grads=True)
    return torch.cat([part.flatten().double().cpu() for part in parts])


def _relative(there: Tensor, exact: Tensor) -> float:
    """The largest difference beside the largest number; 0 beside 0 is right."""
    scale = _largest(exact)
    return _largest(there - exact) / scale if scale else _largest(there)


def _largest(tensor: Tensor) -> float:
    return float(tensor.abs().max())
