"""The mean of a method's effects over distinct graphs, and how far it carries."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import NamedTuple

from scipy import special

from clar_tune.analysis.effect_records import OverGraphs, PenaltyEffect
from clar_tune.analysis.families import Judging
from clar_tune.analysis.layout import Place
from clar_tune.analysis.planned import Planned, regularizer_of
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.scopes import Effect, over_splits
from clar_tune.analysis.statistics import ENOUGH_SEARCHES_OVER_GRAPHS, LEVEL
from clar_tune.analysis.units import difference
from clar_tune.analysis.verdicts import Finding, verdicts
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
    facts: Mapping[str, GraphFacts],
    budgets: Mapping[Place, int],
) -> list[OverGraphs]:
    """One for each method with effects on two distinct graphs, not for sweeps.

    ``budgets`` are the trials that each place asked for: graphs with other ones are left out.
    """
    found = []
    for method in dict.fromkeys(effect.method for effect in effects):
        own = [e for e in effects if e.method == method and e.error is not None]
        if any(e.condition for e in own):
            continue
        usual = Counter(budgets[_place(e)] for e in own).most_common(1)
        kept = [e for e in own if budgets[_place(e)] == usual[0][0]] if usual else []
        units = _distinct([_on_graph(e) for e in kept], facts)
        if len(units) > 1:
            left = tuple(e.graph for e in own if e not in kept)
            found.append(_summary(method, "effect", units, left))
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
    by_method: dict[str, dict[str, dict[int, float]]] = {}
    for plan in family:
        graph, condition, method = plan.place
        known = plan.place in samples and plan.against in samples
        if known and not plan.rival and not condition:
            gains = _by_search(samples[plan.place], samples[plan.against])
            if len(gains) >= ENOUGH_SEARCHES_OVER_GRAPHS:
                by_method.setdefault(method, {})[graph] = gains
    found = [_over_searches(method, own, facts) for method, own in by_method.items()]
    return _judged([each for each in found if each is not None], judging)


def _by_search(one: Sample, other: Sample) -> dict[int, float]:
    """Mean gain of each repeated search."""
    if not one.ground.over_searches or one.is_error:
        return {}
    paired = {
        search: difference(own, other.finals.get(search, {})) for search, own in one.finals.items()
    }
    return {search: fmean(gains.values()) for search, gains in paired.items() if gains}


def _over_searches(
    method: str, graphs: Mapping[str, Mapping[int, float]], facts: Mapping[str, GraphFacts]
) -> tuple[OverGraphs, Effect] | None:
    """The three intervals, that over these graphs with searches as units, and its test."""
    shared = sorted(set.intersection(*(set(own) for own in graphs.values())))
    if len(shared) < ENOUGH_SEARCHES_OVER_GRAPHS:
        return None
    units = [
        _distinct([_OnGraph(graph, own[search], 0.0, 1) for graph, own in graphs.items()], facts)
        for search in shared
    ]
    if len(units[0]) < 2:
        return None
    over = over_splits([fmean(unit.mean for unit in own) for own in units])
    means = [
        _OnGraph(own[0].graph, fmean(unit.mean for unit in own), 0.0, 1)
        for own in zip(*units, strict=True)
    ]
    return replace(_summary(method, "gain", means, ()), these_half=over.half_width()), over


def _judged(found: Sequence[tuple[OverGraphs, Effect]], judging: Judging) -> list[OverGraphs]:
    """With verdicts; a family is the methods of one regularizer."""
    judged = []
    regularizers = [regularizer_of(("", "", own.method)) for own, _ in found]
    for regularizer in dict.fromkeys(regularizers):
        own = [f for f, name in zip(found, regularizers, strict=True) if name == regularizer]
        family = [
            Finding(
                mean=over.mean,
                p_difference=over.p_difference,
                p_equal=over.p_equal(judging.margin),
                no_spread=not over.error,
            )
            for _, over in own
        ]
        for (summary, over), verdict in zip(own, verdicts(family, judging.level), strict=True):
            judged.append(replace(summary, verdict=verdict.word, p=over.p_difference))
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
