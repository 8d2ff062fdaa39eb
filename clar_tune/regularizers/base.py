"""What a regularizer is: terms of the loss, a graph per epoch, or a graph per round."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from clar_tune.adjacency import Adjacency
from clar_tune.checks import positive


class Penalty(NamedTuple):
    """What a regularizer adds to the loss, and of what terms it is made."""

    loss: Tensor
    """The scalar that is added: every term clamped, weighted, summed."""
    names: tuple[str, ...]
    values: Tensor
    """Each term's reduced value before clamp and weight, detached, [terms]."""
    limit: float | None
    """The clamp: above it, and at zero, a term has no gradient."""


class Regularizer(nn.Module):
    """Does nothing; each hook is overridden by those that need it.

    As a module it is the penalty itself: ``penalty(h, edge_index)`` is a scalar to be added to
    the loss of any torch-geometric model.
    """

    rounds = 1
    """How often a model is trained, each time on the graph that :meth:`rewired` gives."""

    changes_epochs = False
    """Whether :meth:`epoch_graph` gives another graph than it gets."""

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
            if known is edge_index and version == edge_index._version:
                return graph
        graph = Adjacency.of(edge_index, num_nodes).symmetrised
        self._known = (edge_index, edge_index._version, graph)
        return graph


def one_term(name: str, value: Tensor, weight: float, clamp: float | None) -> Penalty:
    """``weight * clamp(value, 0, c)``: reduced first, then clamped, then weighted."""
    limited = value.clamp(min=0.0, max=clamp)
    return Penalty(weight * limited, (name,), value.detach().reshape(1), clamp)


def checked_clamp(value: float | None) -> float | None:
    """The limit c, if it is positive or absent."""
    return None if value is None else positive("clamp", value)
