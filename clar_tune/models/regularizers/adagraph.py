"""AdaEdge, which the CLAR paper calls AdaGraph: retrain on a graph mended by predictions."""

import torch
from torch import Tensor

from clar_tune.models.adjacency import Adjacency
from clar_tune.models.regularizers.base import Regularizer
from clar_tune.validation import fraction, one_of, whole

ORDERS = ("add-first", "drop-first")


class AdaGraph(Regularizer):
    """AdaEdge of `Chen et al. (2020) <https://arxiv.org/abs/1909.03211>`_.

    After each round, edges are added between nodes that are predicted alike and dropped
    between nodes that are predicted differently, both ends being confident; then a fresh model
    is trained on that graph. Labels play no part in it. The round with the best validation
    score counts.

    Args:
        rounds: how often a model is trained, the first time on the graph as it is.
        t_add: confidence that both ends of an added edge need.
        t_drop: confidence that both ends of a dropped edge need.
        n_add: most edges added per round, drawn evenly from those that qualify.
        n_drop: most edges dropped per round, the most confident first.
        order: ``add-first`` or ``drop-first``; an edge added in a round is not dropped in it.
    """

    needs_classes = True

    def __init__(
        self,
        *,
        rounds: int = 3,
        t_add: float = 0.9,
        t_drop: float = 0.9,
        n_add: int = 500,
        n_drop: int = 500,
        order: str = "add-first",
    ) -> None:
        super().__init__()
        self.rounds, self.order = whole("rounds", rounds, 1), one_of("order", order, ORDERS)
        self.t_add, self.t_drop = fraction("t_add", t_add), fraction("t_drop", t_drop)
        self.n_add, self.n_drop = whole("n_add", n_add, 0), whole("n_drop", n_drop, 0)

    def rewired(self, graph: Adjacency, logits: Tensor, draw: torch.Generator) -> Adjacency:
        """The graph with this round's edges added and dropped."""
        confidence, predicted = logits.softmax(1).max(1)
        steps = [self._added, self._dropped]
        for step in steps if self.order == "add-first" else reversed(steps):
            graph = step(graph, confidence, predicted, draw)
        return graph

    def _added(
        self, graph: Adjacency, confidence: Tensor, predicted: Tensor, draw: torch.Generator
    ) -> Adjacency:
        pairs = self._alike_pairs(confidence, predicted, draw)
        n = graph.num_nodes
        source, target = graph.symmetrised.edge_index
        joined = torch.isin(pairs[0] * n + pairs[1], source * n + target)
        fresh = pairs[:, ~joined][:, : self.n_add]
        return Adjacency.of(torch.cat([graph.edge_index, fresh, fresh.flip(0)], dim=1), n)

    def _alike_pairs(self, confidence: Tensor, predicted: Tensor, draw: torch.Generator) -> Tensor:
        """Distinct random pairs of confident nodes predicted alike, more than will be added."""
        confident = (confidence >= self.t_add).nonzero().squeeze(1)
        confident = confident[predicted[confident].argsort(stable=True)]  # class by class
        size = torch.bincount(predicted[confident])
        start = (size.cumsum(0) - size).double()
        # A class of m nodes has m (m - 1) / 2 pairs, so classes are drawn in proportion to it.
        ways = (size * (size - 1)).double()
        if not ways.sum():
            return confident.new_empty(2, 0)
        tries = 16 * self.n_add + 4096  # many may be joined already, or drawn twice
        chosen = torch.multinomial(ways, tries, replacement=True, generator=draw)
        uniform = torch.rand(2, tries, dtype=torch.float64, generator=draw, device=ways.device)
        first = (uniform[0] * size[chosen]).long()
        second = (uniform[1] * (size[chosen] - 1)).long()
        second = second + (second >= first)
        ends = confident[(torch.stack([first, second]) + start[chosen]).long()]
        return _first_of_each(ends.sort(dim=0)[0], len(confidence))

    def _dropped(
        self, graph: Adjacency, confidence: Tensor, predicted: Tensor, draw: torch.Generator
    ) -> Adjacency:
        number, count = graph.pairs
        source, target = graph.edge_index
        weaker = torch.minimum(confidence[source], confidence[target])
        wrong = (predicted[source] != predicted[target]) & (weaker >= self.t_drop)
        doubt = confidence.new_zeros(count).scatter(0, number[wrong], weaker[wrong])
        doomed = doubt.argsort(descending=True, stable=True)[: self.n_drop]
        keep = torch.ones(count, dtype=torch.bool, device=graph.device)
        keep[doomed[doubt[doomed] > 0]] = False
        return graph.thinned(keep)


def _first_of_each(pairs: Tensor, num_nodes: int) -> Tensor:
    """Each pair once, in the order in which it first came."""
    keys = pairs[0] * num_nodes + pairs[1]
    ascending, order = torch.sort(keys, stable=True)
    fresh = torch.ones_like(ascending, dtype=torch.bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return pairs[:, order[fresh].sort()[0]]
