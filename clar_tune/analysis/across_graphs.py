"""Methods over distinct graphs: Friedman's test, Wilcoxon's corrected by Holm, and cliques."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from clar_tune.analysis.records import Across, PairAcross, Score
from clar_tune.analysis.statistics import (
    ENOUGH_GRAPHS,
    LEVEL,
    average_ranks,
    friedman,
    holm,
    signed_rank_sum,
    signed_ranks,
)
from clar_tune.graphs import base_name
from clar_tune.rows import GraphFacts

Pair = tuple[str, str]


def across_of(
    methods: Sequence[str],
    scores: Sequence[Score],
    sign: float,
    facts: Mapping[str, GraphFacts],
    planned: Sequence[Pair] = (),
    *,
    mixed: bool = False,
) -> Across:
    """Tests over the graphs that all methods have; twins count once, generated ones never.

    ``planned`` comparisons are corrected among themselves: all pairs of twelve methods are too
    many for Holm's correction ever to find anything over eleven graphs. ``mixed`` methods come
    from spaces that give them other ranges, and are not tested. ``facts`` are those of the graphs.
    """
    table, graphs = _table(methods, scores, sign, facts)
    ranks = average_ranks(table) if graphs and len(methods) > 1 else np.array([])
    reason = _reason(methods, graphs, scores, mixed=mixed)
    pairs = () if reason else _pairs(methods, table, list(combinations(methods, 2)))
    known = [pair for pair in planned if set(pair) <= set(methods)]
    return Across(
        graphs=tuple(graphs),
        methods=tuple(methods) if len(ranks) else (),
        ranks=tuple(ranks.tolist()),
        friedman=friedman(table) if not reason and len(methods) > 2 else None,
        planned=() if reason else _pairs(methods, table, known),
        pairs=pairs,
        cliques=() if reason else _cliques(methods, ranks, pairs),
        reason=reason,
    )


def _table(
    methods: Sequence[str], scores: Sequence[Score], sign: float, facts: Mapping[str, GraphFacts]
) -> tuple[NDArray[np.float64], list[str]]:
    """Distinct graphs x methods; rows of twins, and of conditions, are averaged."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        if not facts[score.graph].generated:
            place = score.graph, score.condition
            rows.setdefault(place, {})[score.method] = sign * score.mean
    families: dict[str, list[tuple[str, list[float]]]] = {}
    for (graph, _), values in rows.items():
        if len(values) == len(methods):  # before averaging: twins lend each other no method
            row = [values[method] for method in methods]
            families.setdefault(facts[graph].counts_as, []).append((base_name(graph), row))
    table = [np.mean([row for _, row in own], axis=0) for own in families.values()]
    names = ["+".join(dict.fromkeys(name for name, _ in own)) for own in families.values()]
    return np.array(table), names


def _reason(
    methods: Sequence[str], graphs: Sequence[str], scores: Sequence[Score], *, mixed: bool
) -> str:
    if len(methods) < 2:
        return "one method only." if methods else "no method has finals yet."
    if mixed:
        return "methods of one row come from spaces with other ranges or values."
    if any(score.condition for score in scores):
        return "the rows are conditions of a sweep, not graphs."
    if len(graphs) < ENOUGH_GRAPHS:
        return (
            f"it needs {ENOUGH_GRAPHS} distinct real graphs with all methods, and there "
            f"{'is 1' if len(graphs) == 1 else f'are {len(graphs)}'} (twins count once, generated "
            "graphs never)."
        )
    return ""


def _pairs(
    methods: Sequence[str], table: NDArray[np.float64], pairs: Sequence[Pair]
) -> tuple[PairAcross, ...]:
    column = {method: table[:, place] for place, method in enumerate(methods)}
    p = [signed_ranks(column[method], column[against]) for method, against in pairs]
    return tuple(
        PairAcross(
            method=method,
            against=against,
            p=value,
            p_holm=corrected,
            ahead=_ahead(method, against, signed_rank_sum(column[method], column[against])),
        )
        for (method, against), value, corrected in zip(pairs, p, holm(p), strict=True)
    )


def _ahead(method: str, against: str, balance: float) -> str:
    return (method if balance > 0 else against) if balance else ""


def _cliques(
    methods: Sequence[str], ranks: NDArray[np.float64], pairs: Sequence[PairAcross]
) -> tuple[tuple[str, ...], ...]:
    """Longest stretches in order of rank in which no two methods differ significantly."""
    ordered = [methods[place] for place in np.argsort(ranks, kind="stable")]
    differ = {frozenset((pair.method, pair.against)) for pair in pairs if pair.p_holm < LEVEL}
    cliques: list[tuple[str, ...]] = []
    for start in range(len(ordered)):
        end = start + 1
        while end < len(ordered) and not _clash(ordered[start:end], ordered[end], differ):
            end += 1
        stretch = tuple(ordered[start:end])
        if len(stretch) > 1 and not any(set(stretch) <= set(clique) for clique in cliques):
            cliques.append(stretch)
    return tuple(cliques)


def _clash(members: Sequence[str], other: str, differ: set[frozenset[str]]) -> bool:
    return any(frozenset((member, other)) in differ for member in members)
