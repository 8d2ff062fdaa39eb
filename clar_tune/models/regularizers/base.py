"""What a regularizer is: terms of the loss, a graph per epoch, or a graph per round."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from clar_tune.errors import ParameterError
from clar_tune.models.adjacency import Adjacency
from clar_tune.validation import positive


class Penalty(NamedTuple):
    """What a regularizer adds to the loss, and of what terms it is made."""

    loss: Tensor
    """The scalar that is added: every term clamped, weighted, summed."""
    names: tuple[str, ...]
    values: Tensor
    """Each term's reduced value before clamp and weight, detached, [terms]."""
    limits: tuple[float, float]
    """A term has a gradient while its value is above the first and not above the second."""
    zero: float = 0.0
    """How large a value may be that would be zero but for rounding."""


class Known(NamedTuple):
    """The classes that a training may know."""

    train_classes: Tensor  # of the training nodes
    val_nodes: Tensor
    val_classes: Tensor  # of the validation nodes


class Corrected(NamedTuple):
    """Logits as they are answered, and what was done to them."""

    logits: Tensor  # [N, C]
    facts: dict[str, float]


class Regularizer(nn.Module):
    """Does nothing; each hook is overridden by those that need it.

    As a module it is the penalty itself: ``penalty(h, edge_index)`` is a scalar to be added to
    the loss of any torch-geometric model.
    """

    rounds = 1
    """How often a model is trained, each time on the graph that :meth:`rewired` gives."""

    changes_epochs = False
    """Whether :meth:`epoch_graph` gives another graph than it gets."""

    has_penalty = False
    """Whether :meth:`penalty` gives one, unless its weights are zero."""

    needs_classes = False
    """Whether it goes by predicted classes, which a regression has not."""

    corrects = False
    """Whether :meth:`corrected` gives other logits than it gets."""

    silent: tuple[str, ...] = ()
    """Parameters that a configuration names only if they are not at their default.

    They came later: configurations without them keep the keys they had."""

    _known: tuple[Tensor, int, Adjacency] | None = None

    def penalty(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> Penalty | None:
        """The penalty, if there is one.

        Args:
            h: logits of all nodes in training mode, [N, C].
            graph: the undirected graph.
            draw: where randomness comes from; torch's global generator if absent.
        """
        return None

    def epoch_graph(self, graph: Adjacency, draw: torch.Generator) -> Adjacency:
        """The graph on which one epoch trains."""
        return graph

    def rewired(self, graph: Adjacency, logits: Tensor, draw: torch.Generator) -> Adjacency:
        """The graph of the next round, from the logits of the last one."""
        return graph

    def corrected(self, logits: Tensor, known: Known) -> Corrected:
        """The logits of the selected epoch [N, C] as they are to be answered."""
        return Corrected(logits, {})

    def facts(self, graph: Adjacency) -> dict[str, float]:
        """What a reader must know about this regularizer on this graph."""
        return {}

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        """The penalty of ``h`` [N, C] on the graph of ``edge_index`` [2, E]: a scalar.

        The graph is prepared once and kept as long as the same ``edge_index`` comes.
        """
        wide = h.float() if h.dtype in (torch.float16, torch.bfloat16) else h
        penalty = self.penalty(wide, self._graph(edge_index, len(h)))
        return wide.new_zeros(()) if penalty is None else penalty.loss

    def _graph(self, edge_index: Tensor, num_nodes: int) -> Adjacency:
        if self._known is not None:
            known, version, graph = self._known
            same = known is edge_index and version == edge_index._version
            if same and graph.num_nodes == num_nodes:
                return graph
        _check_ends(edge_index, num_nodes)
        graph = Adjacency.of(edge_index, num_nodes).symmetrised
        if not edge_index.is_inference():  # those have no version
            self._known = (edge_index, edge_index._version, graph)
        return graph

    def __getstate__(self) -> dict[str, Any]:
        # What was prepared for a graph is not part of a copy.
        return {**self.__dict__, "_known": None}


def _check_ends(edge_index: Tensor, num_nodes: int) -> None:
    if edge_index.numel() and not 0 <= int(edge_index.min()) <= int(edge_index.max()) < num_nodes:
        raise ParameterError(
            f"edge_index: node numbers from 0 to {num_nodes - 1} are needed, as h has "
            f"{num_nodes} rows; got {int(edge_index.min())} to {int(edge_index.max())}."
        )


UNLIMITED = (-math.inf, math.inf)
"""The limits of a term that has a gradient everywhere."""


def one_term(name: str, value: Tensor, weight: float, clamp: float | None) -> Penalty:
    """``weight * clamp(value, 0, c)``: reduced first, then clamped, then weighted."""
    limited = value.clamp(min=0.0, max=clamp)
    return Penalty(weight * limited, (name,), value.detach().reshape(1), limits_of(clamp))


def limits_of(clamp: float | None) -> tuple[float, float]:
    """Where ``clamp(value, 0, c)`` has a gradient."""
    return 0.0, math.inf if clamp is None else clamp


def checked_clamp(value: float | None) -> float | None:
    """The limit c, if it is positive or absent."""
    return None if value is None else positive("clamp", value)
