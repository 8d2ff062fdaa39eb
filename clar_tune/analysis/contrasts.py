"""The planned comparisons: each regularizer with its backbone, clar with each rival."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from statistics import fmean
from typing import NamedTuple

from clar_tune.analysis.layout import Place, split_label, whole_condition
from clar_tune.analysis.records import CHAMPION, Contrast
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.same_ranges import Content, content_of, same_ranges
from clar_tune.analysis.scores import Sample
from clar_tune.analysis.statistics import ENOUGH_UNITS, LEVEL, holm
from clar_tune.analysis.wording import counted
from clar_tune.conditions import most_alike
from clar_tune.graphs import VARIANTS
from clar_tune.paper import printed, printed_ratio

Pair = tuple[Place, Place]


Incomparable = Mapping[Pair, tuple[RunView, RunView]]
"""Pairs of places that do not compare, and the runs that are to blame."""


def incomparable_pairs(samples: Mapping[Place, Sample], planned: Iterable[Pair]) -> Incomparable:
    """Among the planned comparisons and all pairs within a row."""
    runs = {run.name: run for sample in samples.values() for run in sample.runs}
    if len(runs) < 2:
        return {}
    contents = {
        name: content_of(run.row.space_text, run.row.settings) for name, run in runs.items()
    }
    found = {}
    for one, other in dict.fromkeys([*planned, *_within_rows(samples)]):
        if one in samples and other in samples:
            unlike = _unlike(samples[one], samples[other], contents)
            if unlike:
                found[one, other] = unlike
    return found


def incomparable_sentences(incomparable: Incomparable, planned: Iterable[Pair]) -> Iterator[str]:
    """Which spaces are mixed, and what that does to gains between their methods."""
    gains = set(planned)
    blamed: dict[tuple[str, str], int] = {}
    names: dict[str, str] = {}
    for pair, runs in incomparable.items():
        first, second = sorted(run.name for run in runs)
        blamed[first, second] = blamed.get((first, second), 0) + (pair in gains)
        names |= {run.name: f"{run.name} (space {run.row.space})" for run in runs}
    for (first, second), count in blamed.items():
        told = f", and {counted(count, 'gain')} between them get no verdict" if count else ""
        yield (
            f"{names[first]} and {names[second]} search other ranges or fix other values for "
            f"methods that stand in one row: what differs between them may come from that{told}."
        )


def _within_rows(samples: Mapping[Place, Sample]) -> Iterator[Pair]:
    rows: dict[tuple[str, str], list[Place]] = {}
    for place in samples:
        rows.setdefault(place[:2], []).append(place)
    for places in rows.values():
        yield from combinations(places, 2)


def _unlike(
    one: Sample, other: Sample, contents: Mapping[str, Content]
) -> tuple[RunView, RunView] | None:
    """The first two of their runs that give one of both methods other ranges."""
    methods = one.study.method, other.study.method
    for run, against in product(one.runs, other.runs):
        pair = contents[run.name], contents[against.name]
        if not all(same_ranges(*pair, method) for method in methods):
            return run, against
    return None


class Planned(NamedTuple):
    """A comparison of two places."""

    place: Place
    against: Place
    rival: bool

    @property
    def pair(self) -> tuple[Place, Place]:
        """Both places."""
        return self.place, self.against


def family_of(places: Iterable[Place]) -> list[Planned]:
    """Every comparison that a set of places calls for, whatever came out."""
    known = list(dict.fromkeys(places))
    rows: dict[tuple[str, str], list[Place]] = {}
    plains: dict[tuple[str, str], list[Place]] = {}
    for place in known:
        graph, condition, label = place
        rows.setdefault((graph, condition), []).append(place)
        plains.setdefault((graph, split_label(label)[0]), []).append(place)
    planned = []
    for place in known:
        graph, condition, label = place
        backbone, _, regularizer = split_label(label)[0].partition("+")
        if not regularizer:
            continue
        against = _most_alike(place, plains.get((graph, backbone), []))
        if against:
            planned.append(Planned(place, against, rival=False))
        if regularizer == CHAMPION:
            others = (other for other in rows[graph, condition] if _is_rival(other[2], backbone))
            planned += [Planned(place, other, rival=True) for other in others]
    return planned


def _most_alike(place: Place, plains: Iterable[Place]) -> Place | None:
    """The plain backbone under the same condition."""
    conditions = ((whole_condition(plain), plain) for plain in plains)
    return most_alike(whole_condition(place), conditions, VARIANTS)


def contrasts_of(
    samples: Mapping[Place, Sample],
    family: Sequence[Planned],
    table: str | None,
    incomparable: Incomparable,
) -> list[Contrast]:
    """The results of the planned comparisons that have any, corrected as one family."""
    found = [
        _contrast(
            samples[plan.place],
            samples[plan.against],
            _Question(plan.rival, table, len(family), plan.pair in incomparable),
        )
        for plan in family
        if plan.place in samples and plan.against in samples
    ]
    contrasts = [contrast for contrast in found if contrast is not None]
    tested = [place for place, contrast in enumerate(contrasts) if contrast.p is not None]
    corrected = holm([contrasts[place].p or 0.0 for place in tested], len(family))
    for place, p_holm in zip(tested, corrected, strict=True):
        contrasts[place] = _judged(contrasts[place], p_holm)
    return contrasts


def _is_rival(label: str, backbone: str) -> bool:
    own, _, regularizer = split_label(label)[0].partition("+")
    return own == backbone and regularizer not in ("", CHAMPION)


class _Question(NamedTuple):
    """What is asked of two samples, and under which circumstances."""

    rival: bool
    table: str | None
    family: int
    incomparable: bool
    """Whether they come from spaces that do not compare."""


def _contrast(one: Sample, other: Sample, asked: _Question) -> Contrast | None:
    gains, against = _paired(one, other)
    if not gains:
        return None
    units = len(gains) if one.over_searches else sum(map(len, gains))
    enough = units >= ENOUGH_UNITS
    found = one.estimate(gains, asked.family if enough else 1)
    reason = _reason(
        one, incomparable=asked.incomparable, enough=enough, spread=found.p is not None
    )
    graph, condition, method = one.place
    whole = fmean(map(fmean, against)) if one.is_error else 0.0
    width = found.half_width
    return Contrast(
        graph=graph,
        condition=condition,
        method=method,
        against=other.place[2],
        rival=asked.rival,
        gain=found.mean,
        half_width=width,
        p=None if reason else found.p,
        p_holm=None,
        detectable=None if reason else found.detectable,
        units=found.units,
        verdict="none",
        paper_gain=_printed_gain(one, other, asked.table),
        ratio=(whole - found.mean) / whole if whole else None,
        ratio_half_width=None if not whole or width is None else width / whole,
        paper_ratio=_printed_ratio(one, other, asked.table),
        reason=reason,
    )


def _paired(one: Sample, other: Sample) -> tuple[list[list[float]], list[list[float]]]:
    """Gains of each search on the splits that both have, and the scores of ``other`` there."""
    gains, against = [], []
    for search, scores in one.finals.items():
        others = other.finals.get(search, {})
        shared = [unit for unit in scores if unit in others]
        if shared:
            gains.append([one.sign * (scores[unit] - others[unit]) for unit in shared])
            against.append([others[unit] for unit in shared])
    return gains, against


def _reason(one: Sample, *, incomparable: bool, enough: bool, spread: bool) -> str:
    """Why there is no verdict; empty if there can be one."""
    hindrances = {
        "protocol": not one.allows_verdict,
        "spaces": incomparable,
        "searches" if one.over_searches else "finals": not enough,
        "spread": not spread,
    }
    return next((name for name, holds in hindrances.items() if holds), "")


def _printed_ratio(one: Sample, other: Sample, table: str | None) -> float | None:
    study = one.study
    methods = study.method, other.study.method
    return printed_ratio(table, study.graph, *methods, study.condition, study.protocol)


def _printed_gain(one: Sample, other: Sample, table: str | None) -> float | None:
    studies = (one.study, other.study)
    values = [printed(table, s.graph, s.method, s.condition, s.protocol) for s in studies]
    if values[0] is None or values[1] is None:
        return None
    return one.sign * (values[0] - values[1])


def _judged(contrast: Contrast, p_holm: float) -> Contrast:
    verdict = "undecided"
    if p_holm < LEVEL and contrast.gain:
        verdict = "better" if contrast.gain > 0 else "worse"
    return replace(contrast, p_holm=p_holm, verdict=verdict)
