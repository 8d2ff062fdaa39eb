"""What a regularizer is: terms of the loss, a graph per epoch, or a graph per round."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from clar_tune.adjacency import Adjacency
from clar_tune.checks import positive


class Term(NamedTuple):
    """One term of a penalty."""

    loss: Tensor
    """What is added to the loss: weighted and clamped."""
    value: Tensor
    """The reduced value before the clamp and the weight, detached."""
    limit: float | None
    """The clamp: above it, and at zero, the term has no gradient."""


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

    def terms(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> dict[str, Term]:
        """The terms of the penalty by name.

        Args:
            h: logits of all nodes in training mode, [N, C].
            graph: the undirected graph.
            draw: where randomness comes from; torch's global generator if absent.
        """
        return {}

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
        losses = [term.loss for term in self.terms(wide, self._graph(edge_index, len(h))).values()]
        return torch.stack(losses).sum() if losses else wide.new_zeros(())

    def _graph(self, edge_index: Tensor, num_nodes: int) -> Adjacency:
        if self._known is not None:
            known, version, graph = self._known
            if known is edge_index and version == edge_index._version:
                return graph
        graph = Adjacency.of(edge_index, num_nodes).symmetrised
        self._known = (edge_index, edge_index._version, graph)
        return graph


def clamped(value: Tensor, weight: float, clamp: float | None) -> Term:
    """``weight * clamp(value, 0, c)``: reduced first, then clamped, then weighted."""
    return Term(weight * value.clamp(min=0.0, max=clamp), value.detach(), clamp)


def checked_clamp(value: float | None) -> float | None:
    """The limit c, if it is positive or absent."""
    return None if value is None else positive("clamp", value)
