"""The planned comparisons: each regularizer with its backbone, clar with each rival."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from clar_tune.comparison.records import Contrast
from clar_tune.comparison.samples import Place, Sample
from clar_tune.paper import printed
from clar_tune.statistics import ENOUGH_UNITS, LEVEL, estimate, holm

CHAMPION = "clar"
"""The regularizer that is compared with every rival too."""


class Planned(NamedTuple):
    """A comparison of two places."""

    place: Place
    against: Place
    rival: bool


def family_of(places: Iterable[Place]) -> list[Planned]:
    """Every comparison that a set of places calls for, whatever came out.

    A sweep over a regularizer's own parameter leaves its backbone without a condition.
    """
    known = dict.fromkeys(places)
    planned = []
    for graph, condition, method in known:
        backbone, _, regularizer = method.partition("+")
        if not regularizer:
            continue
        plain = [(graph, condition, backbone), (graph, "", backbone)]
        against = next((place for place in plain if place in known), None)
        if against:
            planned.append(Planned((graph, condition, method), against, rival=False))
        if regularizer == CHAMPION:
            planned += [
                Planned((graph, condition, method), other, rival=True)
                for other in known
                if other[:2] == (graph, condition) and _is_rival(other[2], backbone)
            ]
    return planned


def contrasts_of(
    samples: Mapping[Place, Sample], family: Iterable[Planned], table: str | None
) -> list[Contrast]:
    """The results of the planned comparisons that have any, corrected as one family."""
    planned = list(family)
    found = [
        _contrast(samples[plan.place], samples[plan.against], plan.rival, table)
        for plan in planned
        if plan.place in samples and plan.against in samples
    ]
    contrasts = [contrast for contrast in found if contrast is not None]
    tested = [place for place, contrast in enumerate(contrasts) if contrast.p is not None]
    corrected = holm([contrasts[place].p or 0.0 for place in tested], len(planned))
    for place, p_holm in zip(tested, corrected, strict=True):
        contrasts[place] = _judged(contrasts[place], p_holm)
    return contrasts


def _is_rival(method: str, backbone: str) -> bool:
    own, _, regularizer = method.partition("+")
    return own == backbone and regularizer not in ("", CHAMPION)


def _contrast(one: Sample, other: Sample, rival: bool, table: str | None) -> Contrast | None:
    shared = [unit for unit in one.values if unit in other.values]
    if not shared:
        return None
    gains = [one.sign * (one.values[unit] - other.values[unit]) for unit in shared]
    found = estimate(gains, one.test_share)
    tested = one.decides and found.units >= ENOUGH_UNITS
    graph, condition, method = one.place
    return Contrast(
        graph=graph,
        condition=condition,
        method=method,
        against=other.method,
        rival=rival,
        gain=found.mean,
        half=found.half,
        p=found.p if tested else None,
        p_holm=None,
        detectable=found.detectable if tested else None,
        units=found.units,
        verdict="none",
        paper_gain=_printed_gain(one, other, table),
    )


def _printed_gain(one: Sample, other: Sample, table: str | None) -> float | None:
    values = [
        printed(table, sample.place[0], sample.method, sample.place[1], sample.studies[0].protocol)
        for sample in (one, other)
    ]
    if values[0] is None or values[1] is None:
        return None
    return one.sign * (values[0] - values[1])


def _judged(contrast: Contrast, p_holm: float) -> Contrast:
    verdict = "undecided"
    if p_holm < LEVEL and contrast.gain:
        verdict = "better" if contrast.gain > 0 else "worse"
    return replace(contrast, p_holm=p_holm, verdict=verdict)
