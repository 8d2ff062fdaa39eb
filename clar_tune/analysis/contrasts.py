"""Winners side by side: each regularizer with its backbone, clar with each rival, backbones."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from statistics import fmean
from typing import NamedTuple

from clar_tune.analysis.families import Judging
from clar_tune.analysis.findings import finding_of, sides_of
from clar_tune.analysis.layout import Place
from clar_tune.analysis.planned import Pair, Planned, regularizer_of
from clar_tune.analysis.records import Contrast
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.same_ranges import Content, content_of, same_ranges
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.scopes import Effect
from clar_tune.analysis.statistics import ENOUGH_SEARCHES
from clar_tune.analysis.units import ByUnit, difference
from clar_tune.analysis.verdicts import Finding, Verdict, verdicts
from clar_tune.analysis.wording import counted
from clar_tune.paper import printed, printed_ratio

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


class Question(NamedTuple):
    """What is asked of two samples, and under which circumstances."""

    table: str | None
    """The paper's table."""
    incomparable: Incomparable
    judging: Judging
    better: Collection[Place] = ()
    """Places of clar whose penalty has been found to do something: only these meet rivals."""


def contrasts_of(
    samples: Mapping[Place, Sample],
    family: Sequence[Planned],
    protocols: Mapping[Place, str],
    asked: Question,
) -> list[Contrast]:
    """The winners side by side, as planned: intervals, and verdicts where searches are many.

    A family is one regularizer, or one backbone's rivals of clar, under one protocol.
    """
    families: dict[tuple[object, ...], list[Planned]] = {}
    for plan in family:
        kind = "rival" if plan.rival else regularizer_of(plan.place)
        key = ("rival",) if plan.rival else (kind, protocols[plan.place])
        families.setdefault(key, []).append(plan)
    found: dict[Planned, Contrast] = {}
    for own in families.values():
        drawn = {plan: _Pair.of(samples, plan, asked) for plan in own}
        findings = [_finding(pair, asked) for pair in drawn.values()]
        said = verdicts(findings, asked.judging.level)
        for (plan, pair), finding, verdict in zip(drawn.items(), findings, said, strict=True):
            if pair is not None:
                found[plan] = _contrast(pair, finding, verdict, len(own), asked.table)
    return [found[plan] for plan in family if plan in found]


class _Pair(NamedTuple):
    """Two samples on the units that both have."""

    plan: Planned
    one: Sample
    other: Sample
    gains: Sequence[ByUnit]
    """Of each search."""
    against: list[list[float]]
    """What the other scored there."""
    reason: str
    """Why there is no verdict; empty if there can be one."""

    @staticmethod
    def of(samples: Mapping[Place, Sample], plan: Planned, asked: Question) -> "_Pair | None":
        if plan.place not in samples or plan.against not in samples:
            return None
        one, other = samples[plan.place], samples[plan.against]
        gains, against = [], []
        for search, scores in one.finals.items():
            paired = difference(scores, other.finals.get(search, {}), one.sign)
            if paired:
                gains.append(paired)
                against.append([other.finals[search][unit] for unit in paired])
        if not gains:
            return None
        reason = _reason(one, gains, incomparable=plan.pair in asked.incomparable)
        return _Pair(plan, one, other, gains, against, reason)

    @property
    def effect(self) -> Effect | None:
        return self.one.ground.effect(self.gains)


def _finding(pair: _Pair | None, asked: Question) -> Finding:
    """What is known of a comparison; where nothing may be said, it counts with p = 1."""
    effect = pair.effect if pair and not pair.reason else None
    if pair is None or effect is None:
        return Finding(missing=True)
    sides = sides_of(pair.one, pair.other)
    if pair.plan.rival and pair.plan.place not in asked.better:
        return Finding(mean=effect.mean, beats_floor=sides.beat_floor)
    values = pair.one.ground.values(pair.gains)
    return finding_of(effect, values, asked.judging.margin, sides)


def _contrast(
    pair: _Pair, tested: Finding, verdict: Verdict, family: int, table: str | None
) -> Contrast:
    one, other, reason = pair.one, pair.other, pair.reason
    found = one.estimate([list(own.values()) for own in pair.gains], family)
    graph, condition, method = one.place
    whole = fmean(map(fmean, pair.against)) if one.is_error else 0.0
    width = found.half_width
    return Contrast(
        graph=graph,
        condition=condition,
        method=method,
        against=other.place[2],
        rival=pair.plan.rival,
        gain=found.mean,
        half_width=width,
        p=None if reason or found.p is None else max(found.p, tested.p_difference),
        p_holm=None if reason else verdict.p_difference,
        detectable=None if reason else found.detectable,
        units=found.units,
        verdict="none" if reason else verdict.word,
        paper_gain=_printed_gain(one, other, table),
        ratio=(whole - found.mean) / whole if whole else None,
        ratio_half_width=None if not whole or width is None else width / whole,
        paper_ratio=_printed_ratio(one, other, table),
        reason=reason,
    )


def _reason(one: Sample, gains: Sequence[ByUnit], *, incomparable: bool) -> str:
    """Why there is no verdict; empty if there can be one."""
    if incomparable:
        return "spaces"
    if not one.ground.over_searches:
        return "search"
    return "searches" if len(gains) < ENOUGH_SEARCHES else ""


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
