"""Both scopes over splits of finite samples: false claims, coverage, power.

Three contrasts of two learners, each training dropping two features at random:

- ``same``: one set of features for both, so that only chance differs between trainings. The
  truth is 0 in both scopes.
- ``equal``: features of their own, equally good. The truth over new samples is 0; on one sample,
  over all its splits, it is not, and is estimated by the other draws of splits of that sample.
- ``better``: features of their own, better ones for the second learner.

On block models, which are drawn again with their edges, both see features averaged over
neighbours; ``hops`` compares two averagings with one, on the same features.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_check.learners import (
    BLOCK_MODELS,
    CHAMELEON,
    CLASSES,
    CORA,
    SIGNAL,
    TEXAS,
    BlockModel,
    Floats,
    Sizes,
    Splits,
    correctness,
    features_of,
)
from benchmarks.null_check.tables import Measured, Row
from clar_tune.analysis.scopes import Effect, SplitDifferences, over_nodes, over_splits
from clar_tune.analysis.statistics import LEVEL

COUNTS = (10, 20, 50)
DROPPED = 2
EDGES = {TEXAS: 0.07, CHAMELEON: 0.022, CORA: 0.02}
"""What the better features have on top of ``SIGNAL``: so much that some draws show it."""
DRAWS_OF_A_SAMPLE = 100
"""Draws of splits of one sample; the others of them tell its truth."""

PRINTED = {"splits": "splits", "nodes": "nodes", "N-B": "corrected"}

Differences = Mapping[str, Floats]
"""Second learner minus first, for each contrast, at each test node [J, n]."""
Sample = Callable[[Splits], Differences]
"""Trains on splits of one finite sample."""


def sample_of_nodes(sizes: Sizes, draw: np.random.Generator) -> Sample:
    """A sample of nodes that know nothing of each other."""
    labels = draw.integers(CLASSES, size=sizes.nodes)
    one, other = (features_of(labels, SIGNAL, draw) for _ in range(2))
    better = features_of(labels, SIGNAL + EDGES[sizes], draw)

    def differences(splits: Splits) -> Differences:
        first, again, second, third = (
            correctness(x, labels, splits, DROPPED, draw).astype(np.float32)
            for x in (one, one, other, better)
        )
        return {"same": again - first, "equal": second - first, "better": third - first}

    return differences


def sample_of_blocks(model: BlockModel, draw: np.random.Generator) -> Sample:
    """A block model, its features averaged over neighbours."""
    labels = draw.integers(CLASSES, size=model.sizes.nodes)
    smoothing = model.smoothing(labels, draw)
    one, other = (smoothing @ features_of(labels, SIGNAL, draw) for _ in range(2))
    twice = smoothing @ one

    def differences(splits: Splits) -> Differences:
        first, second, third = (
            correctness(x, labels, splits, DROPPED, draw).astype(np.float32)
            for x in (one, other, twice)
        )
        return {"equal": second - first, "hops": third - first}

    return differences


def splits_rows(draws: int, seed: int) -> Iterator[Row]:
    """First scope: how often its interval misses the mean over all splits of the sample."""
    for sizes in (TEXAS, CHAMELEON, CORA):
        missed = misses_of_splits(sizes, draws, seed)
        for contrast, count in sorted(missed):
            yield {
                "sample": f"{sizes.name:>9}",
                "contrast": f"{contrast:>8}",
                "splits": count,
                "missed, %": Measured.over(missed[contrast, count]),
            }


def misses_of_splits(
    sizes: Sizes, draws: int, seed: int
) -> dict[tuple[str, int], NDArray[np.bool_]]:
    """Misses [samples, draws of each], by contrast and number of splits."""
    draw = np.random.default_rng(seed)
    most, each = max(COUNTS), min(DRAWS_OF_A_SAMPLE, draws)
    missed: dict[tuple[str, int], list[list[bool]]] = {}
    for _ in range(-(-draws // each)):
        splits = Splits.drawn(sizes, each * most, draw)
        for contrast, values in sample_of_nodes(sizes, draw)(splits).items():
            d = values.mean(axis=1, dtype=float).reshape(each, most)  # [draws, J]
            exact = contrast == "same"
            others = np.zeros(each) if exact else (d.sum() - d.sum(axis=1)) / (d.size - most)
            for count in COUNTS:
                effects = [over_splits(one) for one in d[:, :count]]
                missed.setdefault((contrast, count), []).append(
                    [misses(e, truth) for e, truth in zip(effects, others, strict=True)]
                )
    return {key: np.array(found) for key, found in missed.items()}


class Effects(NamedTuple):
    """One mean in both scopes, and as they are not printed."""

    splits: Effect
    nodes: Effect
    only_tested: Effect
    """Over nodes that count for their being tested alone: without the factor ``ROLES``."""
    corrected: Effect
    """Nadeau-Bengio."""


@dataclass(frozen=True)
class Redrawn:
    """What came of many samples for one contrast and one number of splits."""

    truth: Measured
    effects: list[Effects]

    def missed(self, scope: str, truth: float) -> Measured:
        """How often an interval misses the truth over new samples."""
        return Measured.over([misses(getattr(one, scope), truth) for one in self.effects])

    def claimed(self, scope: str) -> Measured:
        """How often a difference is claimed at 5 %."""
        return Measured.over([getattr(one, scope).p_difference < LEVEL for one in self.effects])

    def half_width(self, scope: str) -> float:
        """Mean half width of the interval."""
        return float(np.mean([getattr(one, scope).half_width() for one in self.effects]))


def nodes_rows(draws: int, seed: int) -> Iterator[Row]:
    """Second scope: new samples of nodes; claims of both scopes and of Nadeau-Bengio."""
    for sizes in (TEXAS, CHAMELEON, CORA):
        source = partial(sample_of_nodes, sizes)
        yield from _rows(sizes.name, redrawn(sizes, source, draws, seed))


def blocks_rows(draws: int, seed: int) -> Iterator[Row]:
    """Second scope: block models drawn again (mean degree, homophily), with features and edges."""
    for model in BLOCK_MODELS:
        name = f"{model.sizes.name} {model.degree:g} {model.homophily:g}"
        source = partial(sample_of_blocks, model)
        yield from _rows(f"{name:>17}", redrawn(model.sizes, source, draws, seed))


def _rows(name: str, by_contrast: dict[tuple[str, int], Redrawn]) -> Iterator[Row]:
    for (contrast, count), found in sorted(by_contrast.items()):
        null = contrast in ("same", "equal")
        truth = 0.0 if null else found.truth.value
        yield {
            "sample": f"{name:>9}",
            "contrast": f"{contrast:>8}",
            "splits": count,
            "truth": f"{100 * truth:5.2f}",
            "missed, nodes": found.missed("nodes", truth),
            "tested only": found.missed("only_tested", truth),
            **{f"claims, {name}": found.claimed(scope) for name, scope in PRINTED.items()},
            "half widths": " ".join(f"{100 * found.half_width(s):4.1f}" for s in PRINTED.values()),
        }


def redrawn(
    sizes: Sizes, source: Callable[[np.random.Generator], Sample], draws: int, seed: int
) -> dict[tuple[str, int], Redrawn]:
    """Effects over fresh samples, by contrast and number of splits."""
    draw = np.random.default_rng(seed)
    effects: dict[tuple[str, int], list[Effects]] = {}
    for _ in range(draws):
        splits = Splits.drawn(sizes, max(COUNTS), draw)
        for contrast, values in source(draw)(splits).items():
            for count in COUNTS:
                found = effects_of(splits.test[:count], values[:count], sizes)
                effects.setdefault((contrast, count), []).append(found)
    longest = max(COUNTS)
    truth = {
        contrast: Measured.over([one.splits.mean for one in found])
        for (contrast, count), found in effects.items()
        if count == longest
    }
    return {key: Redrawn(truth[key[0]], found) for key, found in effects.items()}


def effects_of(tested: NDArray[np.int64], values: Floats, sizes: Sizes) -> Effects:
    """The effect of one contrast in every scope, from differences at test nodes [J, n]."""
    splits = over_splits(values.mean(axis=1, dtype=float))
    pairs = zip(tested, values.astype(float), strict=True)
    differences = [SplitDifferences(*pair) for pair in pairs]
    wider = float(np.sqrt(1 + len(values) * sizes.test / sizes.train))
    return Effects(
        splits=splits,
        nodes=over_nodes(differences),
        only_tested=over_nodes(differences, roles=1.0),
        corrected=Effect(splits.mean, wider * splits.error, splits.freedom),
    )


def misses(effect: Effect, truth: float) -> bool:
    """Whether the 95 % interval does not contain the truth."""
    return abs(effect.mean - truth) > effect.half_width()
