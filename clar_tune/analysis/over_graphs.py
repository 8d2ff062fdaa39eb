"""The mean of a method's effects over distinct graphs, and how far it carries."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import NamedTuple

from scipy import special

from clar_tune.analysis.effect_records import OverGraphs, PenaltyEffect
from clar_tune.analysis.families import Judging
from clar_tune.analysis.findings import Sides, finding_of, sides_of
from clar_tune.analysis.layout import Place
from clar_tune.analysis.planned import Planned, regularizer_of
from clar_tune.analysis.records import Row
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.scopes import Effect, over_splits
from clar_tune.analysis.statistics import ENOUGH_SEARCHES_OVER_GRAPHS, LEVEL
from clar_tune.analysis.units import by_unit, difference
from clar_tune.analysis.verdicts import verdicts
from clar_tune.graphs import base_name
from clar_tune.rows import GraphFacts

FILTERED = "-filtered"
"""How names of graphs end whose duplicated nodes were left out."""


class _OnGraph(NamedTuple):
    """A mean on one graph, its variance, and the degrees of freedom of that."""

    graph: str
    mean: float
    variance: float
    freedom: float


def effects_over_graphs(
    effects: Sequence[PenaltyEffect],
    rows: Sequence[Row],
    facts: Mapping[str, GraphFacts],
    budgets: Mapping[Place, Hashable],
) -> list[OverGraphs]:
    """One for each method with effects on two distinct graphs, not for sweeps.

    ``budgets`` are what each place was given: graphs with other ones are left out.
    """
    metrics, found = {row.graph: row.metric for row in rows}, []
    for method in dict.fromkeys(effect.method for effect in effects):
        own = [e for e in effects if e.method == method and e.error is not None]
        if any(e.condition for e in own):
            continue
        usual = Counter(budgets[_place(e)] for e in own).most_common(1)
        kept = [e for e in own if budgets[_place(e)] == usual[0][0]] if usual else []
        units = _distinct([_on_graph(e) for e in kept], facts)
        if len(units) > 1:
            left = tuple(e.graph for e in own if e not in kept)
            summary = _summary(method, "effect", units, left)
            found.append(replace(summary, metric=metrics[kept[0].graph]))
    return found


def _place(effect: PenaltyEffect) -> Place:
    return effect.graph, effect.condition, effect.method


def _on_graph(effect: PenaltyEffect) -> _OnGraph:
    variance = (effect.error or 0.0) ** 2
    return _OnGraph(effect.graph, effect.effect or 0.0, variance, effect.freedom or 1)


def gains_over_graphs(
    samples: Mapping[Place, Sample],
    family: Sequence[Planned],
    facts: Mapping[str, GraphFacts],
    judging: Judging,
) -> list[OverGraphs]:
    """The tuned gain of each method, with a verdict: where searches were repeated often enough.

    A search is one unit: its gains are averaged over graphs first.
    """
    by_method: dict[str, dict[str, tuple[Sample, Sample]]] = {}
    for plan in family:
        graph, condition, method = plan.place
        known = plan.place in samples and plan.against in samples
        if known and not plan.rival and not condition:
            pair = samples[plan.place], samples[plan.against]
            if len(_gains(*pair)) >= ENOUGH_SEARCHES_OVER_GRAPHS:
                by_method.setdefault(method, {})[graph] = pair
    found = [_over_searches(method, own, facts) for method, own in by_method.items()]
    return _judged([each for each in found if each is not None], judging)


BySearch = Mapping[int, float]
"""A mean for each repeated search."""


def _gains(one: Sample, other: Sample) -> BySearch:
    """Of the first over the other."""
    if not one.ground.over_searches or one.is_error:
        return {}
    paired = {
        search: difference(own, other.finals.get(search, {})) for search, own in one.finals.items()
    }
    return {search: fmean(gains.values()) for search, gains in paired.items() if gains}


def _over_floor(sample: Sample) -> BySearch:
    """What it scores beyond a constant answer; nothing of a search where nobody knows."""
    floors = {
        study.search: by_unit(study.finals, sample.ground.protocol, lambda final: final.floor)
        for study in sample.studies
    }
    paired = {search: difference(own, floors[search]) for search, own in sample.finals.items()}
    return {search: fmean(own.values()) for search, own in paired.items() if own}


class _OverSearches(NamedTuple):
    """A mean over graphs of which each search is a unit."""

    summary: OverGraphs
    gains: Sequence[float]
    effect: Effect
    sides: Sides


def _over_searches(
    method: str,
    graphs: Mapping[str, tuple[Sample, Sample]],
    facts: Mapping[str, GraphFacts],
) -> _OverSearches | None:
    """The three intervals, that over these graphs with searches as units, and its test."""
    units = _units({graph: _gains(*pair) for graph, pair in graphs.items()}, facts)
    if len(units) < ENOUGH_SEARCHES_OVER_GRAPHS or len(units[0]) < 2:
        return None
    gains = _means(units)
    over = over_splits(gains)
    means = [
        _OnGraph(own[0].graph, fmean(unit.mean for unit in own), 0.0, 1)
        for own in zip(*units, strict=True)
    ]
    summary = replace(_summary(method, "gain", means, ()), these_half=over.half_width())
    return _OverSearches(summary, gains, over, _sides(graphs, facts))


def _units(
    graphs: Mapping[str, BySearch], facts: Mapping[str, GraphFacts]
) -> list[list[_OnGraph]]:
    """The distinct graphs of each search that all of them have."""
    shared = sorted(set.intersection(*(set(own) for own in graphs.values())))
    return [
        _distinct([_OnGraph(graph, own[search], 0.0, 1) for graph, own in graphs.items()], facts)
        for search in shared
    ]


def _means(units: Sequence[Sequence[_OnGraph]]) -> list[float]:
    return [fmean(unit.mean for unit in own) for own in units]


def _sides(graphs: Mapping[str, tuple[Sample, Sample]], facts: Mapping[str, GraphFacts]) -> Sides:
    """Whether each side beats a constant answer in the mean over graphs, search by search."""

    def above(side: int) -> bool | None:
        over = _means(_units({g: _over_floor(pair[side]) for g, pair in graphs.items()}, facts))
        found = over_splits(over) if len(over) > 1 else None
        return None if found is None else found.mean - found.half_width() > 0

    return Sides(above(0), above(1), sum(sides_of(*pair).collapsed for pair in graphs.values()))


def _judged(found: Sequence[_OverSearches], judging: Judging) -> list[OverGraphs]:
    """With verdicts; a family is the methods of one regularizer."""
    judged = []
    regularizers = [regularizer_of(("", "", own.summary.method)) for own in found]
    for regularizer in dict.fromkeys(regularizers):
        own = [f for f, name in zip(found, regularizers, strict=True) if name == regularizer]
        family = [finding_of(o.effect, o.gains, judging.margin, o.sides) for o in own]
        said = verdicts(family, judging.level)
        for one, tested, verdict in zip(own, family, said, strict=True):
            p = tested.p_difference
            judged.append(replace(one.summary, verdict=verdict.word, p=p))
    return judged


def _distinct(found: Iterable[_OnGraph], facts: Mapping[str, GraphFacts]) -> list[_OnGraph]:
    """One for each distinct graph: twins are averaged, filtered ones stand for raw ones."""
    families: dict[str, list[_OnGraph]] = {}
    for own in found:
        if not facts[own.graph].generated:
            families.setdefault(facts[own.graph].counts_as, []).append(own)
    return [_averaged(_without_raw(own)) for own in families.values()]


def _without_raw(twins: Sequence[_OnGraph]) -> list[_OnGraph]:
    names = {base_name(own.graph) for own in twins}
    return [own for own in twins if base_name(own.graph) + FILTERED not in names]


def _averaged(twins: Sequence[_OnGraph]) -> _OnGraph:
    r"""The mean of k twins; its variance is :math:`\sum V / k^2`."""
    variance = sum(own.variance for own in twins) / len(twins) ** 2
    freedom = min((own.freedom for own in twins if own.variance), default=1.0)
    name = "+".join(dict.fromkeys(base_name(own.graph) for own in twins))
    return _OnGraph(name, fmean(own.mean for own in twins), variance, freedom)


def _summary(
    method: str, question: str, units: Sequence[_OnGraph], left_out: tuple[str, ...]
) -> OverGraphs:
    r"""Three intervals of one mean over G graphs.

    These graphs: :math:`\sqrt{\sum V_g} / G`, with Satterthwaite's degrees of freedom. Graphs like
    these: :math:`t_{G-1}\, s / \sqrt G`. One more of them: :math:`t_{G-1}\, s \sqrt{1 + 1/G}`.
    """
    count, total = len(units), sum(own.variance for own in units)
    spread, limit = stdev(own.mean for own in units), _limit(count - 1)
    parts = sum(own.variance**2 / own.freedom for own in units)
    these = _limit(total**2 / parts) * math.sqrt(total) / count if parts else 0.0
    return OverGraphs(
        method=method,
        question=question,
        graphs=tuple(own.graph for own in units),
        left_out=left_out,
        mean=fmean(own.mean for own in units),
        these_half=these,
        like_these_half=limit * spread / math.sqrt(count),
        one_more_half=limit * spread * math.sqrt(1 + 1 / count),
    )


def _limit(freedom: float) -> float:
    return -float(special.stdtrit(freedom, LEVEL / 2))
