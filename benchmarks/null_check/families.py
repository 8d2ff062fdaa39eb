"""Whole families of verdicts, and looks at the same family again and again."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_check.tables import Measured, Row
from clar_tune.analysis.scopes import Effect
from clar_tune.analysis.statistics import LEVEL, holm
from clar_tune.analysis.verdicts import Finding, level_of_look, verdicts

CELLS = 30
MARGIN = 0.01
DEVIATIONS = (0.005, 0.01, 0.03)
COUNTS = (10, 20, 50)
TRUTHS = {
    "all 0": np.zeros(CELLS),
    "all at the margin": np.full(CELLS, MARGIN),
    "half and half": np.where(np.arange(CELLS) % 2, MARGIN, 0.0),
}
LOOKS = (20, 40, 80, 160, 320)
"""Finals at each look, if the looks before claimed nothing."""


def rows(draws: int, seed: int) -> Iterator[Row]:
    """Any false word in a family of 30 cells, by two procedures of Holm, and by one over both."""
    for count in COUNTS:
        for deviation in DEVIATIONS:
            for name, truth in TRUTHS.items():
                difference, equality, single = false_words(truth, deviation, count, draws, seed)
                yield {
                    "finals": count,
                    "sd, points": f"{100 * deviation:g}",
                    "truth": f"{name:>17}",
                    "false better or worse": Measured.over(difference),
                    "false equal": Measured.over(equality),
                    "one Holm, any false": Measured.over(single),
                }


def false_words(
    truth: NDArray[np.float64], deviation: float, count: int, draws: int, seed: int
) -> tuple[list[bool], list[bool], list[bool]]:
    """For each family: any false better or worse, any false equal, and any of a single Holm."""
    draw = np.random.default_rng(seed)
    d = draw.normal(0, deviation, size=(draws, count, len(truth))) + truth
    means, errors = d.mean(axis=1), d.std(axis=1, ddof=1) / np.sqrt(count)
    difference, equality, single = [], [], []
    for mean, error in zip(means, errors, strict=True):
        family = findings(mean, error, count)
        found = [(one.word, one.small) for one in verdicts(family)]
        difference.append(_any_false_difference([word for word, _ in found], truth))
        equality.append(_any_false_equality([w == "equal" or s for w, s in found], truth))
        words = words_of_one_holm(family)
        wrong = _any_false_equality([word == "equal" for word in words], truth)
        single.append(wrong or _any_false_difference(words, truth))
    return difference, equality, single


def findings(means: NDArray[np.float64], errors: NDArray[np.float64], count: int) -> list[Finding]:
    """What each cell of a family brings to its verdict."""
    effects = [Effect(float(m), float(e), count - 1) for m, e in zip(means, errors, strict=True)]
    return [
        Finding(mean=e.mean, p_difference=e.p_difference, p_equal=e.p_equal(MARGIN))
        for e in effects
    ]


def words_of_one_holm(family: Sequence[Finding]) -> list[str]:
    """What not to do: one procedure over the smaller p of both tests of each cell."""
    corrected = holm([min(one.p_difference, one.p_equal) for one in family])
    return [
        "undecided"
        if p >= LEVEL
        else "equal"
        if one.p_equal < one.p_difference
        else "better"
        if one.mean > 0
        else "worse"
        for one, p in zip(family, corrected, strict=True)
    ]


def looks_rows(draws: int, seed: int) -> Iterator[Row]:
    """Any false claim up to each look, where nothing differs and undecided families go on."""
    for cells in (1, CELLS):
        claimed = false_looks(cells, draws, seed)
        for look, count in enumerate(LOOKS):
            yield {
                "cells": cells,
                "look": look,
                "finals": count,
                **{name: Measured.over(found[look]) for name, found in claimed.items()},
            }


def false_looks(cells: int, draws: int, seed: int) -> dict[str, NDArray[np.bool_]]:
    """Whether a claim was made at a look or before, [looks, draws], by numbering of looks."""
    draw = np.random.default_rng(seed)
    levels = {
        "always 5 %": [LEVEL] * len(LOOKS),
        "first is 0": [level_of_look(look) for look in range(len(LOOKS))],
        "first is 1": [level_of_look(look + 1) for look in range(len(LOOKS))],
    }
    claimed = {name: np.zeros((len(LOOKS), draws), dtype=bool) for name in levels}
    for place in range(draws):
        d = draw.normal(size=(LOOKS[-1], cells))
        smallest = []
        for count in LOOKS:
            error = d[:count].std(axis=0, ddof=1) / np.sqrt(count)
            family = findings(d[:count].mean(axis=0), error, count)
            smallest.append(min(holm([one.p_difference for one in family])))
        for name, own in levels.items():
            claimed[name][:, place] = np.logical_or.accumulate(np.array(smallest) < own)
    return claimed


def _any_false_difference(words: Sequence[str], truth: NDArray[np.float64]) -> bool:
    """Better where there is no gain, worse where there is no loss; truths are 0 or the margin."""
    wrong = [
        word == "worse" or (word == "better" and not true)
        for word, true in zip(words, truth, strict=True)
    ]
    return any(wrong)


def _any_false_equality(claims: Sequence[bool], truth: NDArray[np.float64]) -> bool:
    return any(claim and true >= MARGIN for claim, true in zip(claims, truth, strict=True))
