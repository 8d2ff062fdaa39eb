"""The corrected test of Nadeau and Bengio beside the plain paired t-test.

Each sample is a finite set of labelled nodes, split again and again as a graph is. Where the
features of both learners are equally good, the true gain is exactly 0 and every claim is false.
Where those of one are better, the true gain is the mean over fresh training sets and fresh test
nodes, and claims are the power.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_check.learners import (
    CLASSES,
    SIGNAL,
    Sizes,
    Splits,
    correctness,
    features_of,
)
from benchmarks.null_check.tables import Measured, Row
from clar_tune.analysis import LEVEL, estimate

TRAININGS, FRESH_NODES = 500, 1000
"""What a true gain is the mean over: trainings, and test nodes of each."""


@dataclass(frozen=True)
class Design:
    """Sizes of the node sets, number of splits, noise of the learners, advantage of one."""

    train: int
    val: int
    test: int
    splits: int = 10
    dropped: int = 0
    """Features that each training drops at random."""
    edge: float = 0.0
    """What the features of the second learner have on top of ``SIGNAL``."""


@dataclass(frozen=True)
class Claims:
    """Shares of samples in which each test claims a difference at the 5 % level."""

    truth: float
    corrected: Measured
    naive: Measured
    detectable: float
    """Mean of the smallest detectable gains that the corrected test states."""


SIZES = [
    (82, 36, 65, 10),  # texas on balanced splits
    (110, 36, 37, 10),  # as many nodes on random 60/20/20 splits
    (110, 36, 37, 50),
    (300, 100, 100, 10),
]
NULL = [Design(*sizes, dropped=dropped) for sizes in SIZES for dropped in (0, 2)]
POWER = [Design(*sizes, dropped=2, edge=0.11) for sizes in SIZES]


def rows(draws: int, seed: int) -> Iterator[Row]:
    """Claims at the 5 % level: the plain paired t against the corrected test."""
    for design in (*NULL, *POWER):
        found = claims(design, draws, seed)
        yield {
            "train/val/test": f"{design.train}/{design.val}/{design.test}",
            "splits": design.splits,
            "dropped": design.dropped,
            "true gain": f"{100 * found.truth:.1f}",
            "naive t": found.naive,
            "corrected": found.corrected,
            "detectable": f"{100 * found.detectable:.1f}",
        }


def claims(design: Design, samples: int, seed: int = 0) -> Claims:
    """Count the claims of both tests over fresh samples."""
    draw = np.random.default_rng(seed)
    gains = np.array([split_gains(design, draw) for _ in range(samples)])
    corrected = [estimate(gain, design.test / design.train) for gain in gains]
    naive = [estimate(gain) for gain in gains]
    return Claims(
        truth=true_gain(design, draw),
        corrected=Measured.over([(1.0 if one.p is None else one.p) < LEVEL for one in corrected]),
        naive=Measured.over([(1.0 if one.p is None else one.p) < LEVEL for one in naive]),
        detectable=float(np.mean([one.detectable for one in corrected])),
    )


def split_gains(design: Design, draw: np.random.Generator) -> NDArray[np.float64]:
    """Gains of the second learner over the first on splits of one finite sample."""
    sizes = Sizes("", design.train, design.val, design.test)
    return _gains(design, sizes, Splits.drawn(sizes, design.splits, draw), draw)


def true_gain(design: Design, draw: np.random.Generator) -> float:
    """The mean gain over fresh training sets on fresh nodes; 0 if both see equally well."""
    if not design.edge:
        return 0.0
    sizes = Sizes("", design.train, 0, FRESH_NODES)
    fresh = (Splits.drawn(sizes, 1, draw) for _ in range(TRAININGS))
    return float(np.mean([_gains(design, sizes, splits, draw) for splits in fresh]))


def _gains(
    design: Design, sizes: Sizes, splits: Splits, draw: np.random.Generator
) -> NDArray[np.float64]:
    labels = draw.integers(CLASSES, size=sizes.nodes)
    first, second = (
        correctness(features_of(labels, signal, draw), labels, splits, design.dropped, draw)
        for signal in (SIGNAL, SIGNAL + design.edge)
    )
    gains: NDArray[np.float64] = second.mean(axis=1) - first.mean(axis=1)
    return gains
