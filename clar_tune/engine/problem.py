"""The records that a program takes: what is learned, from what, by which rules, and where."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Csr, Floats, Numbers
from clar_tune.engine.teams import AnyTeam

Network = Any
"""A record of ``networks``: the matrices of a backbone. Its type chooses how it propagates."""

Places = NDArray[np.int64]


class Layers(NamedTuple):
    """The sizes of a network and where its weights stand in one flat array.

    Each layer maps its input and lets the result spread over the graph,
    :math:`X' = f(P(X W) + b)`. Widths are padded to multiples of 8 with weights of zero.
    """

    depth: int
    inputs: Places  # [depth] rows of W
    mapped: Places  # [depth] columns of W
    outputs: Places  # [depth] columns of X'
    weights_at: Places  # [depth]
    bias_at: Places  # [depth]
    own_at: Places  # [depth] where other weights of the layer begin
    hidden_at: Places  # [depth] of X' in the array of all hidden layers
    mapped_at: Places  # [depth] of X W, where it is needed again
    activation: int


class Data(NamedTuple):
    """A graph's features and labels, and the nodes that losses are taken over."""

    features: Csr  # [N, F]
    labels: NDArray[np.int64]  # [N]
    targets: Floats  # [N * width], empty for classes
    outputs: int  # classes or targets
    every: Numbers  # all nodes
    train: Numbers
    val: Numbers
    both: Numbers


class Rules(NamedTuple):
    """How long is trained, by which steps, and which epoch is kept."""

    seed: np.uint64
    rate: float  # of learning
    decay: float
    decayed: int  # weights that it acts on, the first ones
    dropout: float
    max_epochs: int
    patience: int
    warmup: int
    late_best: int  # the best epoch must be later for training to stop
    by_score: bool
    one_pass: bool  # training and evaluation give the same outputs
    thinned: float  # rate at which pairs of nodes are cut apart in each epoch


class Work(NamedTuple):
    """Arrays that a program writes to."""

    kept: Csr  # features that dropout leaves
    words: Numbers
    nothing: Floats  # zeros, as wide as anything
    mapped: Floats
    hidden: Floats
    outputs: Floats  # [N * width]
    d_outputs: Floats
    d_mapped: Floats
    d_hidden: Floats
    transposed: Floats
    gradient: Floats
    mean: Floats
    square: Floats
    team: AnyTeam  # who shares what is done with them


class Outcome(NamedTuple):
    """What a program gives back beside the weights that it has written."""

    epochs: int
    best_epoch: int
    val_loss: float
    val_score: float
    failed: int  # number of what was not finite, or one of the codes below
    value: float  # what it became


TRAIN_LOSS, VAL_LOSS, FIRST_TERM = 0, 1, 2
FINISHED, STOPPED = -1, -2

STOP, EPOCH, LOSS, SCORE = range(4)
"""Places in the array that a running program shares: a flag to stop it, and how far it is."""
