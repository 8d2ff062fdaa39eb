"""How often the test of compare claims a difference, beside the plain paired t-test.

Each sample is a finite set of labelled nodes, split again and again as a graph is. Two learners
are trained on every split and compared by their paired test accuracies. A learner is a ridge
classifier on features of its own; each training may drop a few of them at random, much as weights
start at random. Where the features of both are equally good, the true gain is exactly 0 and every
claim is false. Where those of one are better, the true gain is the mean over fresh training sets
and fresh test nodes, and claims are the power.

    python -m benchmarks.null_check
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from clar_tune.analysis import LEVEL, estimate

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

CLASSES, FEATURES = 5, 20
SIGNAL = 0.3
"""How far apart the classes lie, in standard deviations of the noise."""
RIDGE = 1.0
TRAININGS, FRESH_NODES = 500, 1000
"""What a true gain is the mean over: trainings, and test nodes of each."""
CENTRES = np.random.default_rng(7).normal(size=(CLASSES, FEATURES))


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

    @property
    def nodes(self) -> int:
        """Nodes of one sample."""
        return self.train + self.val + self.test


@dataclass(frozen=True)
class Claims:
    """Shares of samples in which each test claims a difference at the 5 % level."""

    truth: float
    corrected: float
    naive: float
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


def claims(design: Design, samples: int, seed: int = 0) -> Claims:
    """Count the claims of both tests over fresh samples."""
    draw = np.random.default_rng(seed)
    gains = np.array([split_gains(design, draw) for _ in range(samples)])
    corrected = [estimate(gain, design.test / design.train) for gain in gains]
    naive = [estimate(gain) for gain in gains]
    return Claims(
        truth=true_gain(design, draw),
        corrected=float(np.mean([one.p < LEVEL for one in corrected])),
        naive=float(np.mean([one.p < LEVEL for one in naive])),
        detectable=float(np.mean([one.detectable for one in corrected])),
    )


def split_gains(design: Design, draw: np.random.Generator) -> Floats:
    """Gains of the second learner over the first on splits of one finite sample."""
    order = np.argsort(draw.random((design.splits, design.nodes)), axis=1)
    train, test = order[:, : design.train], order[:, -design.test :]  # [J, n]
    return _gains(design, design.nodes, train, test, draw)


def true_gain(design: Design, draw: np.random.Generator) -> float:
    """The mean gain over fresh training sets on fresh nodes; 0 if both see equally well."""
    if not design.edge:
        return 0.0
    nodes = np.arange(design.train + FRESH_NODES)[None]
    train, test = nodes[:, : design.train], nodes[:, design.train :]
    gains = [_gains(design, nodes.size, train, test, draw) for _ in range(TRAININGS)]
    return float(np.mean(gains))


def _gains(
    design: Design, nodes: int, train: Nodes, test: Nodes, draw: np.random.Generator
) -> Floats:
    labels = draw.integers(CLASSES, size=nodes)
    noise = draw.normal(size=(2, nodes, FEATURES))
    first, second = (
        _accuracy(signal * CENTRES[labels] + own, labels, train, test, design.dropped, draw)
        for signal, own in zip((SIGNAL, SIGNAL + design.edge), noise, strict=True)
    )
    return second - first


def _accuracy(
    features: Floats,
    labels: Nodes,
    train: Nodes,
    test: Nodes,
    dropped: int,
    draw: np.random.Generator,
) -> Floats:
    """Test accuracies of one learner, trained on each split by itself."""
    kept = np.argsort(draw.random((len(train), FEATURES)), axis=1) >= dropped  # [J, d]
    x = features[train] * kept[:, None]  # [J, n, d]
    y = np.eye(CLASSES)[labels[train]] - 1 / CLASSES  # [J, n, c]
    across = x.transpose(0, 2, 1)
    weights = np.linalg.solve(across @ x + RIDGE * np.eye(FEATURES), across @ y)  # [J, d, c]
    found = (features[test] @ (kept[:, :, None] * weights)).argmax(axis=2)
    accuracies: Floats = (found == labels[test]).mean(axis=1)
    return accuracies


COLUMNS: dict[str, Callable[[Design, Claims], str]] = {
    "train/val/test": lambda design, _: f"{design.train}/{design.val}/{design.test}",
    "splits": lambda design, _: f"{design.splits}",
    "dropped": lambda design, _: f"{design.dropped}",
    "true gain": lambda _, found: f"{100 * found.truth:.1f}",
    "naive t": lambda _, found: f"{100 * found.naive:.1f} %",
    "corrected": lambda _, found: f"{100 * found.corrected:.1f} %",
    "detectable": lambda _, found: f"{100 * found.detectable:.1f}",
}


@click.command()
@click.option("--samples", default=1000, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=0, show_default=True)
@click.option("--out", default="benchmarks/results/null_check.json", show_default=True, type=Path)
def main(samples: int, seed: int, out: Path) -> None:
    """Count false claims where nothing differs, and the power where something does."""
    print(f"Claims at the 5 % level in {samples} samples; gains in points.")
    print("".join(f"{name:>14}" for name in COLUMNS))
    results = []
    for design in (*NULL, *POWER):
        found = claims(design, samples, seed)
        print("".join(f"{write(design, found):>14}" for write in COLUMNS.values()), flush=True)
        results.append({**asdict(design), **asdict(found)})
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"samples": samples, "seed": seed, "designs": results}, indent=1))
    print(f"written to {out}")


if __name__ == "__main__":
    main()
