"""A whole training: one compiled call."""

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Floats, Numbers, copy
from clar_tune.engine.compiling import kernel
from clar_tune.engine.objective import cross_entropy, squared_error
from clar_tune.engine.operator import thin
from clar_tune.engine.optimiser import adam
from clar_tune.engine.passes import backward, forward
from clar_tune.engine.penalties import Penalty, add_penalty
from clar_tune.engine.problem import (
    EPOCH,
    FINISHED,
    FIRST_TERM,
    LOSS,
    SCORE,
    STOP,
    STOPPED,
    TRAIN_LOSS,
    VAL_LOSS,
    Data,
    Layers,
    Network,
    Outcome,
    Rules,
    Work,
)
from clar_tune.engine.randomness import EDGES, key_of


def train(
    network: Network,
    thinner: Network,
    layers: Layers,
    data: Data,
    rules: Rules,
    penalty: Penalty,
    work: Work,
    weights: Floats,
    best: Floats,
    history: NDArray[np.float64],
    progress: NDArray[np.float64],
) -> Outcome:
    """Train until a rule says stop; ``best`` gets the weights of the selected epoch.

    ``thinner`` is the network on the graph of an epoch, ``network`` itself unless edges are
    dropped.

    Without randomness the pass that evaluates one epoch is the one that trains the next. Outputs
    are computed for those rows alone that something is made of.
    """
    best_epoch, best_loss, best_score = 0, np.inf, -np.inf
    train_rows, val_rows = _needed_rows(data, rules, len(penalty.values) > 0)
    epoch = 0
    while True:
        epoch += 1
        if rules.thinned > 0:
            key = key_of(rules.seed, EDGES, epoch)
            thin(network.operator, rules.thinned, key, thinner.operator)
        if epoch == 1 or not rules.one_pass:
            forward(thinner, layers, data, rules, weights, train_rows, rules.dropout, epoch, work)
        work.d_outputs[:] = 0
        loss = _objective(layers, data, work, data.train, work.d_outputs)[0]
        loss += add_penalty(penalty, layers, data, rules, epoch, work)
        backward(thinner, layers, data, rules, weights, rules.dropout, epoch, work)
        adam(weights, work.gradient, work.mean, work.square,
             rules.rate, rules.decay, rules.decayed, epoch)  # fmt: skip
        forward(network, layers, data, rules, weights, val_rows, 0.0, 0, work)
        val_loss, score = _objective(layers, data, work, data.val, work.nothing[:0])
        loss, val_loss = _rounded(loss), _rounded(val_loss)
        _note(history, epoch, val_loss)
        failed, value = _not_finite(loss, val_loss, penalty.values)
        if failed != FINISHED:
            return Outcome(epoch, best_epoch, best_loss, best_score, failed, value)
        if _better(rules.by_score, val_loss, score, best_loss, best_score):
            best_epoch, best_loss, best_score = epoch, val_loss, score
            copy(weights, best)
            copy(penalty.values, penalty.best)
        _tell(progress, epoch, val_loss, best_score)
        if _over(rules, epoch, best_epoch):
            break
        if progress[STOP] != 0:
            return Outcome(epoch, best_epoch, best_loss, best_score, STOPPED, 0.0)
    forward(network, layers, data, rules, best, data.every, 0.0, 0, work)
    return Outcome(epoch, best_epoch, best_loss, best_score, FINISHED, 0.0)


@kernel
def _needed_rows(data: Data, rules: Rules, penalised: bool) -> tuple[Numbers, Numbers]:
    """The rows whose outputs training needs, and those that evaluation needs."""
    if rules.one_pass:
        rows = data.every if penalised else data.both
        return rows, rows
    return data.every if penalised else data.train, data.val


@kernel
def _note(history: NDArray[np.float64], epoch: int, val_loss: float) -> None:
    """Keep a loss, if there is room for it."""
    if epoch <= len(history):
        history[epoch - 1] = val_loss


@kernel
def _tell(progress: NDArray[np.float64], epoch: int, loss: float, best_score: float) -> None:
    """How far the training is; the epoch last, as whoever watches goes by it."""
    progress[LOSS], progress[SCORE] = loss, best_score
    progress[EPOCH] = epoch


@kernel
def _rounded(loss: float) -> float:
    """A loss as torch has it, so that equal ones are equal for both."""
    return np.float64(np.float32(loss))


@kernel
def _not_finite(loss: float, val_loss: float, terms: NDArray[np.float64]) -> tuple[int, float]:
    """The number of the first that is not finite, and what it is."""
    if not np.isfinite(loss):
        return TRAIN_LOSS, loss
    if not np.isfinite(val_loss):
        return VAL_LOSS, val_loss
    for term in range(len(terms)):
        if not np.isfinite(terms[term]):
            return FIRST_TERM + term, terms[term]
    return FINISHED, 0.0


@kernel
def _better(
    by_score: bool, loss: float, score: float, best_loss: float, best_score: float
) -> bool:
    """Whether an epoch beats the best so far: by its loss, or its score and then its loss."""
    if by_score and score != best_score:
        return score > best_score
    return loss < best_loss


@kernel
def _over(rules: Rules, epoch: int, best_epoch: int) -> bool:
    """Whether the last epoch was the last one."""
    waited = epoch - best_epoch >= rules.patience and epoch >= rules.warmup
    return epoch == rules.max_epochs or (waited and best_epoch > rules.late_best)


@kernel
def _objective(
    layers: Layers, data: Data, work: Work, rows: Numbers, gradient: Floats
) -> tuple[float, float]:
    """The loss and the score of some rows; the gradient of the loss, if there is an array."""
    width = layers.outputs[layers.depth - 1]
    if len(data.targets):
        error = squared_error(work.outputs, rows, data.targets, data.outputs, width, gradient)
        return error, error
    return cross_entropy(work.outputs, rows, data.labels, data.outputs, width, gradient)
