"""What the program needs of a regularizer."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from clar_tune.analysis import WEIGHTS
from clar_tune.models import REGULARIZERS, Adjacency, Method, Penalty, Regularizer, TensorGraph
from clar_tune.records import Params, Value
from clar_tune.testing.example_graphs import EXAMPLES, NO_EDGES, TWO_RINGS
from clar_tune.testing.short_training import check_training, difference, engines_of, trained
from clar_tune.testing.subject import Subject, import_path

BACKBONE = "gcn"
"""What is trained with the regularizer."""


def check_regularizer(
    regularizer: str | type[nn.Module],
    /,
    *,
    random: bool = False,
    without_edges: bool = False,
    **params: Value,
) -> None:
    """Check that a regularizer does what searches need of it.

    On small graphs (a path, a star, an isolated node …): the penalty is one finite number with
    a finite gradient; logits and edges stay as they were; a graph that it makes for an epoch or a
    round has the same nodes, and each edge once in both directions. It has no weights to be
    learned. Equal seeds give equal penalties; with ``weight``, ``alpha``, ``beta`` and ``rate``
    at 0, as far as it has them, a training gives the plain backbone's numbers; two trainings with
    equal seeds give equal numbers.

    Args:
        regularizer: a class called as ``penalty(h, edge_index)``, one derived from
            ``clar_tune.models.Regularizer``, or the name of either in a space.
        random: check too that it draws anew in every epoch.
        without_edges: check it too on a graph that has none. Few searches meet one.
        params: parameters of the class, as a space gives them; defaults for the rest.

    Raises:
        AssertionError: one sentence on what was checked, on which graph, and what came out.
    """
    name = import_path(regularizer, REGULARIZERS)
    subject = Subject(name.rpartition(":")[2])
    with subject.attempt():
        method = Method.parse(f"{BACKBONE}+{name}")
        complete = method.checked(params)
        _check_weightless(subject, method.build_regularizer(complete))
    for example in EXAMPLES:
        if example is NO_EDGES and not without_edges:
            continue
        here, graph = subject.on(example.name), TensorGraph.of(example)
        with here.attempt():
            built = method.build_regularizer(complete)
            _check_penalty(here, built, graph)
            _check_as_module(here, built, graph)
            _check_graphs(here, built, graph)
            _check_facts(here, built.facts(graph.adjacency.symmetrised))
    here = subject.on(TWO_RINGS.name)
    with here.attempt():
        _check_gradient(here, method.build_regularizer(complete))
        _check_randomness(here, lambda: method.build_regularizer(complete), random=random)
        _check_off(here, method, complete)
    check_training(subject, method, complete)


def _check_weightless(subject: Subject, regularizer: Regularizer) -> None:
    """The optimiser gets the backbone's parameters only."""
    learned = [name for name, p in regularizer.named_parameters() if p.requires_grad]
    needed = "it must have no parameters to be learned, as only a backbone's are"
    subject.expect(
        not learned, needed, ", ".join(name.removeprefix("module.") for name in learned)
    )


def _check_penalty(here: Subject, regularizer: Regularizer, graph: TensorGraph) -> None:
    """As a training asks for it."""
    leaf, undirected = _logits(graph), graph.adjacency.symmetrised
    h, edges = leaf.clone(), undirected.edge_index  # h is no leaf, as in a training
    before = {"h": h.detach().clone(), "edge_index": edges.clone()}
    penalty = regularizer.penalty(h, undirected, _generator())
    after = {"h": h, "edge_index": edges}
    changed = [name for name, tensor in after.items() if not torch.equal(tensor, before[name])]
    needed = "logits and edges must stay as they were"
    here.expect(not changed, needed, f"another {' and '.join(changed)}")
    if penalty is None:
        return
    _check_terms(here, regularizer, penalty)
    if penalty.loss.requires_grad:
        (gradient,) = torch.autograd.grad(penalty.loss, leaf, materialize_grads=True)
        wrong = int((~gradient.isfinite()).sum())
        needed = "the penalty's gradient must be finite"
        here.expect(not wrong, needed, f"{wrong} entries that are not")


def _check_as_module(here: Subject, regularizer: Regularizer, graph: TensorGraph) -> None:
    """As any other training loop calls it."""

    def value() -> Any:
        torch.manual_seed(2)
        return regularizer(_logits(graph), graph.adjacency.symmetrised.edge_index)

    first, second = value(), value()
    _check_number(here, "as a module its value", first)
    needed = "as a module equal seeds must give equal values"
    here.expect(torch.equal(first, second), needed, f"{first.item()} and {second.item()}")


def _check_terms(here: Subject, regularizer: Regularizer, penalty: Any) -> None:
    needed = "penalty() must return a Penalty or None"
    here.expect(isinstance(penalty, Penalty), needed, type(penalty).__name__)
    here.expect(regularizer.has_penalty, "a class with a penalty must say has_penalty", "False")
    _check_number(here, "the penalty", penalty.loss)
    values = penalty.values
    here.expect(
        values.shape == (len(penalty.names),) and not values.requires_grad,
        f"values of the {len(penalty.names)} terms must be one row without gradient",
        f"{tuple(values.shape)}{' with one' * values.requires_grad}",
    )
    here.expect(values.isfinite().all(), "values of terms must be finite", values.tolist())


def _check_number(here: Subject, what: str, value: Any) -> None:
    got = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
    here.expect(got == (), f"{what} must be a tensor of one number", got)
    here.expect(value.isfinite(), f"{what} must be finite", value.item())


def _check_graphs(here: Subject, regularizer: Regularizer, graph: TensorGraph) -> None:
    """The graphs that it makes for an epoch and for a round."""
    undirected, logits = graph.adjacency.symmetrised, _logits(graph).detach()
    for_epoch = regularizer.epoch_graph(undirected, _generator())
    for_round = regularizer.rewired(undirected, logits, _generator())
    for name, made in (("epoch_graph", for_epoch), ("rewired", for_round)):
        _check_simple(here, name, made, undirected.num_nodes)
    says = regularizer.changes_epochs
    here.expect(
        (for_epoch is not undirected) == says,
        "changes_epochs must say whether epoch_graph returns another graph than it gets",
        says,
    )


def _check_simple(here: Subject, name: str, made: Any, nodes: int) -> None:
    needed = f"{name}() must return an Adjacency of {nodes} nodes"
    got = made.num_nodes if isinstance(made, Adjacency) else type(made).__name__
    here.expect(got == nodes, needed, got)
    source, target = made.edge_index
    again = Adjacency.of(made.edge_index, nodes)
    here.expect(
        made.symmetric and again.symmetric and again.pattern.equals(made.pattern),
        f"{name}() must return each edge once in both directions, and no self-loops",
        list(zip(source.tolist(), target.tolist(), strict=True)),
    )


def _check_facts(here: Subject, facts: dict[str, float]) -> None:
    wrong = {name: value for name, value in facts.items() if not math.isfinite(value)}
    here.expect(not wrong, "facts must be finite numbers", wrong)


def _check_gradient(here: Subject, regularizer: Regularizer) -> None:
    graph = TensorGraph.of(TWO_RINGS)
    penalty = regularizer.penalty(_logits(graph), graph.adjacency.symmetrised, _generator())
    here.expect(
        penalty is None or penalty.loss.requires_grad,
        "the penalty must have a gradient with respect to the logits",
        "a constant: nothing can be learned from it",
    )


def _check_randomness(here: Subject, make: Callable[[], Regularizer], *, random: bool) -> None:
    """Seeds decide what is drawn, and each epoch draws anew."""
    first, second = (_two_epochs(make()) for _ in range(2))
    here.expect(
        all(map(_same, first, second)),
        "equal seeds must give equal penalties and graphs",
        f"penalties {_penalties(first)} and {_penalties(second)} in two epochs each",
    )
    if random:
        here.expect(
            not _same(*first),
            "two epochs must draw another penalty or another graph each",
            f"the same graph and penalties {_penalties(first)}",
        )


Epoch = tuple[Tensor, Adjacency]


def _two_epochs(regularizer: Regularizer) -> tuple[Epoch, Epoch]:
    """Penalty and graph of each."""
    graph, draw = TensorGraph.of(TWO_RINGS), _generator()
    h, undirected = _logits(graph).detach(), graph.adjacency.symmetrised
    torch.manual_seed(2)

    def epoch() -> Epoch:
        thin = regularizer.epoch_graph(undirected, draw)
        penalty = regularizer.penalty(h, undirected, draw)
        return torch.zeros(()) if penalty is None else penalty.loss, thin

    return epoch(), epoch()


def _same(first: Epoch, second: Epoch) -> bool:
    return torch.equal(first[0], second[0]) and first[1].pattern.equals(second[1].pattern)


def _penalties(epochs: tuple[Epoch, Epoch]) -> list[float]:
    return [penalty.item() for penalty, _ in epochs]


def _check_off(here: Subject, method: Method, params: Params) -> None:
    """Tables call a regularizer with weights of 0 the plain backbone."""
    weights = [name for name in WEIGHTS if name in params]
    off = {**params, **dict.fromkeys(weights, 0.0)}
    if not weights or not _can_be_built(method, off):
        return
    plain = Method(method.backbone)
    own = {n: v for n, v in params.items() if n in plain.parameters()}
    for engine in engines_of(method):
        (_, expected), (_, found) = trained(plain, own, engine), trained(method, off, engine)
        here.expect(
            torch.allclose(expected, found, atol=1e-4),  # adding 0 to a gradient may move a digit
            f"with {' and '.join(weights)} at 0 a training must be that of the plain backbone",
            f"logits that differ by up to {difference(expected, found):.2g}",
        )


def _can_be_built(method: Method, params: Params) -> bool:
    """A class may refuse weights of 0."""
    try:
        method.build_regularizer(params)
    except Exception:  # a user's class may raise anything
        return False
    return True


def _logits(graph: TensorGraph) -> Tensor:
    """Logits of all nodes, [N, C], as small as those of a fresh model."""
    draw = torch.Generator().manual_seed(1)
    shape = (len(graph.labels), graph.num_outputs)
    return (0.3 * torch.randn(shape, generator=draw)).requires_grad_()


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(3)
