"""What the program needs of a backbone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from clar_tune.graphs import Graph
from clar_tune.models import BACKBONES, Adjacency, Method, Model, TensorGraph
from clar_tune.records import Params, Value
from clar_tune.testing.example_graphs import EXAMPLES, TWO_RINGS
from clar_tune.testing.short_training import check_training, difference
from clar_tune.testing.subject import Subject, import_path

Make = Callable[[], Model]
"""Builds the model, always from the same seed."""


def check_backbone(
    backbone: str | type[nn.Module], /, *, equivariant: bool = False, **params: Value
) -> None:
    """Check that a backbone does what searches need of it.

    On small graphs (a path, a star, one without edges …): it can be built from the widths of
    input and output; logits are finite and of shape [nodes, outputs]; gradients are finite and
    reach every parameter; evaluation repeats; what it is given stays as it was. Seeds decide its
    weights and its dropout; ``state_dict`` holds all that was learned; no call remembers the edges
    of another; two trainings with equal seeds give equal numbers.

    Args:
        backbone: a class, or its name in a space: ``package.module:Class`` or a built-in one.
        equivariant: check too that other numbers for the nodes change nothing but the order of
            the logits. No search needs it.
        params: parameters of the class and the optimiser, as a space gives them; defaults for
            the rest. A ``dropout`` above 0 must act in training.

    Raises:
        AssertionError: one sentence on what was checked, on which graph, and what came out.
    """
    name = import_path(backbone, BACKBONES)
    subject = Subject(name.rpartition(":")[2])
    with subject.attempt():
        method = Method.parse(name)
        complete = method.checked(params)
    for example in EXAMPLES:
        here, graph = subject.on(example.name), TensorGraph.of(example)
        with here.attempt():
            model = _maker(method, graph, complete)()
            _check_passes(here, model, graph)
            if equivariant:
                _check_equivariance(here, model, example)
    here, graph = subject.on(TWO_RINGS.name), TensorGraph.of(TWO_RINGS)
    make = _maker(method, graph, complete)
    with here.attempt():
        _check_parameters(here, make(), graph)
        _check_randomness(here, make, graph)
        if complete.get("dropout"):
            _check_dropout(here, make(), graph)
        _check_forgets(here, make, graph)
        _check_restores(here, make(), graph)
    check_training(subject, method, complete)


def _maker(method: Method, graph: TensorGraph, params: Params) -> Make:
    def make() -> Model:
        torch.manual_seed(0)
        return method.build_model(graph, params)

    return make


def _check_passes(here: Subject, model: Model, graph: TensorGraph) -> None:
    """One pass in training and two in evaluation."""
    with _untouched(here, graph):
        logits = model.train()(graph, graph.adjacency)
    _check_logits(here, "in training", logits, graph)
    needed = "logits must have a gradient"
    here.expect(logits.requires_grad, needed, "a constant: nothing can be learned")
    _mixed(logits).backward()  # type: ignore[no-untyped-call]
    named = model.network.named_parameters()
    wrong = [name for name, p in named if p.grad is not None and not p.grad.isfinite().all()]
    here.expect(not wrong, "gradients must be finite", f"others for {', '.join(wrong)}")
    with _untouched(here, graph):
        first, second = (_evaluated(model, graph, graph.adjacency) for _ in range(2))
    _check_logits(here, "in evaluation", first, graph)
    _check_equal(here, "two passes in evaluation must give equal logits", first, second)
    if model.deterministic:
        needed = "it calls itself deterministic: training and evaluation must give equal logits"
        _check_equal(here, needed, logits, first)


@contextmanager
def _untouched(here: Subject, graph: TensorGraph) -> Iterator[None]:
    """Features, as a user's class and as a built-in one gets them, and edges stay as they are."""

    def given() -> dict[str, Tensor]:
        x = graph.x if isinstance(graph.x, Tensor) else graph.x.to_dense()
        inputs = {"x": graph.dense_x, "sparse x": x, "edge_index": graph.adjacency.edge_index}
        return {name: tensor.clone() for name, tensor in inputs.items()}

    before = given()
    yield
    changed = [name for name, tensor in given().items() if not torch.equal(tensor, before[name])]
    needed = "what it is given must stay as it was, as all trainings share it"
    here.expect(not changed, needed, f"another {' and '.join(changed)}")


def _check_equal(
    here: Subject, needed: str, first: Tensor, second: Tensor, hint: str = ""
) -> None:
    got = f"a difference of up to {difference(first, second):.2g}{hint}"
    here.expect(torch.equal(first, second), needed, got)


def _check_logits(here: Subject, when: str, logits: Any, graph: TensorGraph) -> None:
    wanted = (len(graph.labels), graph.num_outputs)
    got = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
    needed = f"logits {when} must have the shape {wanted}, nodes and outputs"
    here.expect(got == wanted, needed, got)
    wrong = int((~logits.isfinite()).sum())
    here.expect(not wrong, f"logits {when} must be finite", f"{wrong} that are not")


def _check_equivariance(here: Subject, model: Model, example: Graph) -> None:
    """With its nodes in reverse order the graph has its logits in reverse order."""
    last = example.num_nodes - 1
    reverse = replace(
        example,
        features=example.features[::-1],
        edges=last - example.edges,
        labels=example.labels[::-1].copy(),
    )
    logits, reversed_logits = (
        _evaluated(model, graph, graph.adjacency)
        for graph in map(TensorGraph.of, (example, reverse))
    )
    here.expect(
        torch.allclose(logits.flip(0), reversed_logits, atol=1e-5, rtol=1e-4),
        "with the nodes in another order the logits must be the same in that order",
        f"a difference of up to {difference(logits.flip(0), reversed_logits):.2g}",
    )


def _check_parameters(here: Subject, model: Model, graph: TensorGraph) -> None:
    """There are some, all are learned, and those spared weight decay exist."""
    learned = {name: p for name, p in model.network.named_parameters() if p.requires_grad}
    here.expect(learned, "it must have parameters to be learned", "none")
    _mixed(model.train()(graph, graph.adjacency)).backward()  # type: ignore[no-untyped-call]
    idle = [name for name, parameter in learned.items() if parameter.grad is None]
    needed = "gradients must reach every parameter that requires one"
    here.expect(not idle, needed, f"none for {', '.join(idle)}")
    unknown = sorted(set(getattr(model.network, "no_decay", ())) - learned.keys())
    here.expect(not unknown, "no_decay must name parameters", ", ".join(unknown))


def _check_randomness(here: Subject, make: Make, graph: TensorGraph) -> None:
    """Torch's global generator decides the weights, and what is drawn in training."""
    models = make(), make()
    first, second = (model.network.state_dict() for model in models)
    other = [name for name, tensor in first.items() if not torch.equal(tensor, second[name])]
    needed = "torch.manual_seed must decide the first weights"
    here.expect(not other, needed, f"two different {', '.join(other)}")

    def trained_pass(model: Model) -> Tensor:
        torch.manual_seed(1)
        logits: Tensor = model.train()(graph, graph.adjacency)
        return logits

    needed = "torch.manual_seed must decide a pass in training"
    one, two = map(trained_pass, models)
    _check_equal(here, needed, one, two)


def _check_dropout(here: Subject, model: Model, graph: TensorGraph) -> None:
    first, second = (model.train()(graph, graph.adjacency) for _ in range(2))
    needed = "with dropout two passes in training must differ"
    here.expect(not torch.equal(first, second), needed, "equal logits")


def _check_forgets(here: Subject, make: Make, graph: TensorGraph) -> None:
    """DropEdge gives other edges in every epoch: a layer must not keep those of the first."""
    _, pairs = graph.adjacency.pairs
    fewer = graph.adjacency.thinned(torch.arange(pairs) % 2 == 0)
    experienced, fresh = make(), make()
    _evaluated(experienced, graph, graph.adjacency)
    after, alone = (_evaluated(model, graph, fewer) for model in (experienced, fresh))
    needed = "fewer edges must give the same logits after a call with all edges as without it"
    _check_equal(here, needed, after, alone, "; perhaps a layer keeps edges (`cached=True`)")


def _check_restores(here: Subject, model: Model, graph: TensorGraph) -> None:
    """A training puts the tensors of ``state_dict`` back to what they were at its best epoch."""
    state = [tensor.detach() for tensor in model.state_dict().values()]
    kept = [tensor.clone() for tensor in state]
    before = _evaluated(model, graph, graph.adjacency)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    _mixed(model.train()(graph, graph.adjacency)).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    for tensor, old in zip(state, kept, strict=True):
        tensor.copy_(old)
    after = _evaluated(model, graph, graph.adjacency)
    needed = "with the tensors of its state_dict as before, logits must be as before"
    hint = "; perhaps it learns something that is neither a parameter nor a buffer"
    _check_equal(here, needed, before, after, hint)


def _evaluated(model: Model, graph: TensorGraph, adjacency: Adjacency) -> Tensor:
    with torch.no_grad():
        logits: Tensor = model.eval()(graph, adjacency)
    return logits


def _mixed(logits: Tensor) -> Tensor:
    """A number with another gradient for each logit."""
    return (logits * torch.linspace(-1, 1, logits.numel()).view_as(logits)).sum()
