r"""A search whose penalty does nothing on average: where are the effects centred?

A point c of shared parameters has quality :math:`m_c`; a setting s of the penalty (0 is off) adds
:math:`u_{cs}`, as good as chance for off as for on. Validation shows :math:`m_c + u_{cs}` and an
error that is the same whoever tries that configuration. Plain and regularized search try T
configurations each: paired start-up points, points of their own, and by exchange the best of the
other's. Then the winners' arms, in points without further noise:

- on - off at the regularized winner, which was chosen for being good *on*;
- cross - plain at the plain winner, which was chosen for being good *off*;
- the effect, their mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_check.tables import Measured, Row

TRIALS, EXCHANGED, PAIRED = 16, 4, 6


@dataclass(frozen=True)
class Search:
    """Standard deviations, in points, of what decides a validation score; and the settings."""

    shared: float
    penalty: float
    noise: float
    settings: int = 1
    """Settings of the penalty, other than off."""
    may_be_off: bool = False
    """Whether a trial of the regularized method may draw the weight 0."""
    exchanged: int = EXCHANGED


@dataclass(frozen=True)
class Arms:
    """The arms of each search, and whether its regularized winner has a penalty at all."""

    on: NDArray[np.float64]
    off: NDArray[np.float64]
    cross: NDArray[np.float64]
    plain: NDArray[np.float64]
    used: NDArray[np.bool_]


SEARCHES = [
    Search(shared=2.0, penalty=0.2, noise=0.5),
    Search(shared=2.0, penalty=0.5, noise=0.5),
    Search(shared=2.0, penalty=1.0, noise=1.0),
    Search(shared=1.0, penalty=1.0, noise=0.5),
    Search(shared=2.0, penalty=1.0, noise=1.0, exchanged=0),
    Search(shared=2.0, penalty=1.0, noise=1.0, settings=6),
    Search(shared=2.0, penalty=0.5, noise=0.5, settings=6, may_be_off=True),
    Search(shared=2.0, penalty=1.0, noise=1.0, settings=6, may_be_off=True),
]


def rows(draws: int, seed: int) -> Iterator[Row]:
    """Means over searches, in points; of those whose winner has a penalty."""
    for search in SEARCHES:
        arms = arms_of(search, draws, seed)
        half, other = arms.on - arms.off, arms.cross - arms.plain
        deviations = (search.shared, search.penalty, search.noise)
        yield {
            "shared / penalty / noise": " / ".join(f"{one:g}" for one in deviations),
            "settings": f"{search.settings}{' or off' if search.may_be_off else '':<7}",
            "exchanged": search.exchanged,
            "unused, %": f"{100 * np.mean(~arms.used):.0f}",
            **{
                name: Measured.over(values[arms.used] / 100)
                for name, values in (
                    ("on - off", half),
                    ("cross - plain", other),
                    ("effect", (half + other) / 2),
                    ("on - plain", arms.on - arms.plain),
                )
            },
        }


def arms_of(search: Search, draws: int, seed: int) -> Arms:
    """Search so many times with both methods, and take the winners' arms."""
    draw = np.random.default_rng(seed)
    own = TRIALS - search.exchanged - PAIRED
    points, each = PAIRED + 2 * own, np.arange(draws)[:, None]
    quality = draw.normal(0, search.shared, size=(draws, points, 1))
    quality = quality + draw.normal(0, search.penalty, size=(draws, points, 1 + search.settings))
    shown = quality + draw.normal(0, search.noise, size=quality.shape)  # [draws, points, settings]

    lowest = 0 if search.may_be_off else 1
    plain = np.broadcast_to(np.arange(PAIRED + own), (draws, PAIRED + own))
    regularized = np.where(plain < PAIRED, plain, plain + own)
    settings = draw.integers(lowest, 1 + search.settings, size=regularized.shape)
    by_plain = shown[each, plain, 0]
    by_regularized = shown[each, regularized, settings]
    best = settings[each[:, 0], by_regularized.argmax(axis=1)][:, None]  # its best penalty

    from_plain = _best(plain, by_plain, search.exchanged)
    from_regularized = _best(regularized, by_regularized, search.exchanged)
    plain = np.concatenate([plain, from_regularized], axis=1)
    regularized = np.concatenate([regularized, from_plain], axis=1)
    settings = np.concatenate([settings, np.broadcast_to(best, from_plain.shape)], axis=1)

    here = each[:, 0]
    c_plain = plain[here, shown[each, plain, 0].argmax(axis=1)]
    winner = shown[each, regularized, settings].argmax(axis=1)
    c_on, setting = regularized[here, winner], settings[here, winner]
    return Arms(
        on=quality[here, c_on, setting],
        off=quality[here, c_on, 0],
        cross=quality[here, c_plain, setting],
        plain=quality[here, c_plain, 0],
        used=setting > 0,
    )


def _best(points: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    order = np.argsort(-scores, axis=1)[:, :count]
    best: NDArray[np.int64] = np.take_along_axis(points, order, axis=1)
    return best
