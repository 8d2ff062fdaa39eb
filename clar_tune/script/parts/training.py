"""One training: Adam, the epoch that validation selects, the answers of its weights."""

import copy
import math

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from clar_tune.script.parts.plain import Plain
from clar_tune.script.parts.scores.accuracy import score
from clar_tune.script.parts.seeds import seed_for


def optimiser(network: nn.Module, lr: float, weight_decay: float) -> torch.optim.Adam:
    """Adam, which lets the weights decay that are not spared."""
    spared = set(getattr(network, "no_decay", ()))
    decayed = [p for name, p in network.named_parameters() if name not in spared]
    others = [p for name, p in network.named_parameters() if name in spared]
    groups = [{"params": decayed, "weight_decay": weight_decay}]
    groups += [{"params": others, "weight_decay": 0.0}] if others else []
    return torch.optim.Adam(groups, lr=lr)


def train(
    network: nn.Module,
    penalty: Plain,
    data: Data,
    train: Tensor,
    val: Tensor,
    init_seed: int,
    lr: float,
    weight_decay: float,
    max_epochs: int,
    patience: int,
    warmup: int,
    select: str,
    stop: str,
) -> Tensor:
    """Train to the end; the logits [N, C] of the selected epoch.

    Args:
        network: has its first weights.
        penalty: what is added to the loss.
        data: the graph.
        train: nodes to train.
        val: nodes that select the epoch.
        init_seed: what dropout and the penalty draw with.
        lr: learning rate.
        weight_decay: of Adam.
        max_epochs: most epochs.
        patience: epochs without a better one after which training ends.
        warmup: by the rule ``patience`` no earlier epoch is the last; by ``released`` training
            goes on while the best epoch is not later.
        select: by the lowest validation ``loss``, or the highest ``accuracy``.
        stop: ``patience`` or ``released``.
    """
    draw = torch.Generator().manual_seed(seed_for("regularizer", init_seed))
    optimizer = optimiser(network, lr, weight_decay)
    torch.manual_seed(seed_for("dropout", init_seed))
    best, best_epoch, kept = (-math.inf, -math.inf), 0, network.state_dict()
    for epoch in range(1, max_epochs + 1):
        network.train()
        logits = network(data.x, penalty.epoch_edges(draw))
        loss = cross_entropy(logits[train], data.y[train]) + penalty(logits, draw)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        logits = answers(network, data)
        val_loss = float(cross_entropy(logits[val], data.y[val]))
        rank = score(logits[val], data.y[val]) if select == "accuracy" else 0.0
        if (rank, -val_loss) > best:
            best, best_epoch = (rank, -val_loss), epoch
            kept = copy.deepcopy(network.state_dict())
        warm = epoch >= warmup if stop == "patience" else best_epoch > warmup
        if warm and epoch - best_epoch >= patience:
            break
    network.load_state_dict(kept)
    return penalty.corrected(answers(network, data), data.y, train, val)


def answers(network: nn.Module, data: Data) -> Tensor:
    """[N, C] The logits of all nodes in evaluation mode."""
    network.eval()
    with torch.no_grad():
        logits: Tensor = network(data.x, data.edge_index)
    return logits
