"""What stands below a table: how to read it, and what can and cannot be concluded."""

import json
from collections.abc import Iterable, Iterator, Sequence

from clar_tune.catalogue import is_generated
from clar_tune.comparison.records import Across, Contrast, Row, Score
from clar_tune.manifest import environments
from clar_tune.overview import RunView
from clar_tune.paper import printed_in
from clar_tune.splits import PROTOCOLS
from clar_tune.statistics import ENOUGH_UNITS, LEVEL, least_p

INACTIVE = 0.05
"""A penalty with a gradient in a smaller share of epochs hardly took part."""


def caption_of(
    runs: Sequence[RunView], rows: Sequence[Row], family: int, table: str | None
) -> Iterator[str]:
    """How to read the numbers, one sentence each."""
    budget = runs[0].budget
    rung = f"by successive halving ({budget['reduction']})" if budget["pruning"] else "of all"
    searches = f", {budget['searches']} searches" if budget["searches"] > 1 else ""
    yield (
        f"Budget of every study: {budget['trials']} trials by {budget['sampler']}, "
        f"{budget['repeats']} repeats {rung}, {budget['finals']} finals{searches}; "
        f"epochs selected by validation {budget['select']}."
    )
    yield from _intervals(rows)
    yield from _test_nodes(runs, rows)
    if family:
        yield (
            f"p: two-sided test of the paired gain; p_holm: corrected by Holm over all {family} "
            "planned comparisons (each regularizer with its backbone, clar with each rival of the "
            "same backbone); verdicts use p_holm < 0.05. Detectable: the true gain that one such "
            "test finds with probability 0.8."
        )
    if table:
        yield f"Paper: {printed_in(table)}"
    if budget["searches"] == 1:
        yield "Finals measure a configuration, not a search: --searches repeats the search itself."
    yield from _notes(rows)


def conclusions_of(
    runs: Sequence[RunView],
    scores: Sequence[Score],
    contrasts: Sequence[Contrast],
    across: Across,
) -> Iterator[str]:
    """What can and what cannot be concluded, one sentence each."""
    yield from _verdicts([contrast for contrast in contrasts if not contrast.rival])
    yield from _rivals([contrast for contrast in contrasts if contrast.rival])
    yield from _too_few(contrasts)
    yield from _idle(scores)
    yield from _budgets(scores)
    yield from _unfinished(runs, scores)
    yield from _versions(runs)
    if all(is_generated(score.graph) for score in scores) and scores:
        yield "Generated graphs only: nothing follows for real ones."
    if across.reason:
        yield f"No test across graphs: {across.reason}"
    else:
        yield from _across(across)


def _intervals(rows: Sequence[Row]) -> Iterator[str]:
    kinds = {protocol: PROTOCOLS[protocol] for protocol in dict.fromkeys(r.protocol for r in rows)}
    if any(kind.verdict and not kind.fixed for kind in kinds.values()):
        yield (
            "±: 95 % interval over finals on fresh splits, each of which is one unit; it is "
            "corrected for splits that share nodes (Nadeau-Bengio)."
        )
    if any(kind.fixed for kind in kinds.values()):
        yield "Fixed split: interval and test over seeds, conditional on the split."
    for protocol, kind in kinds.items():
        if not kind.verdict:
            yield f"{protocol}: interval over splits, no verdict."


def _test_nodes(runs: Sequence[RunView], rows: Sequence[Row]) -> Iterator[str]:
    share = runs[0].options.get("outer_test")
    if share:
        yield (
            f"Tested only on {100 * share:g} % of the nodes, which no search has seen; intervals "
            "are conditional on them."
        )
    elif any(not PROTOCOLS[row.protocol].fixed for row in rows):
        yield (
            "Test nodes of a final may have been validation nodes of the search; --outer-test "
            "keeps some apart."
        )


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    noted = {
        note: [r.graph for r in rows if note in r.notes] for row in rows for note in row.notes
    }
    texts = {
        "leaky": "leaky: duplicated nodes leak from training to test.",
        "same nodes as texas": "its features and labels are those of texas.",
        "synthetic": "synthetic: generated, stands for no real graph.",
    }
    for note, text in texts.items():
        if note in noted:
            yield f"{', '.join(dict.fromkeys(noted[note]))}: {text}"


def _verdicts(contrasts: Sequence[Contrast]) -> Iterator[str]:
    regularizers = dict.fromkeys(contrast.method.partition("+")[2] for contrast in contrasts)
    for regularizer in regularizers:
        own = [c for c in contrasts if c.method.partition("+")[2] == regularizer]
        judged = [c for c in own if c.verdict != "none"]
        if not judged:
            continue
        better = [c for c in judged if c.verdict == "better"]
        worse = [c for c in judged if c.verdict == "worse"]
        open_ = len(judged) - len(better) - len(worse)
        yield (
            f"{regularizer} against its backbone, {len(judged)} comparisons: better in "
            f"{len(better)}{_listed(better)}, worse in {len(worse)}{_listed(worse)}, "
            f"undecided in {open_}{_detectable(judged)}."
        )


def _rivals(contrasts: Sequence[Contrast]) -> Iterator[str]:
    judged = [c for c in contrasts if c.verdict != "none"]
    if not judged:
        return
    better = [c for c in judged if c.verdict == "better"]
    worse = [c for c in judged if c.verdict == "worse"]
    yield (
        f"clar against rivals, {len(judged)} comparisons: better in {len(better)}"
        f"{_listed(better, rivals=True)}, worse in {len(worse)}{_listed(worse, rivals=True)}, "
        f"undecided in {len(judged) - len(better) - len(worse)}."
    )


def _detectable(contrasts: Sequence[Contrast]) -> str:
    """Undecided is not equal: what the finals could have seen."""
    sizes = sorted(c.detectable for c in contrasts if c.verdict == "undecided" and c.detectable)
    if not sizes:
        return ""
    middle = 100 * sizes[len(sizes) // 2]
    return f" (which is not equal: half of those tests see only gains above {middle:.2g} points)"


def _listed(contrasts: Sequence[Contrast], *, rivals: bool = False) -> str:
    names = [
        f"{c.method}{f' over {c.against}' if rivals else ''} on {_place(c.graph, c.condition)}"
        for c in contrasts
    ]
    return f" ({_some(names)})" if names else ""


def _too_few(contrasts: Sequence[Contrast]) -> Iterator[str]:
    few = [contrast for contrast in contrasts if contrast.units < ENOUGH_UNITS]
    if few:
        yield (
            f"Too few finals for a verdict in {len(few)} comparisons ({min(c.units for c in few)} "
            f"pairs, {ENOUGH_UNITS} needed): `clar-tune extend RUN --finals +N` adds some."
        )


def _idle(scores: Sequence[Score]) -> Iterator[str]:
    off = [score for score in scores if score.weightless]
    if off:
        yield (
            f"Validation chose weight 0, the plain backbone, for {_some(map(_name, off))}: "
            "what differs there is no effect of the penalty."
        )
    idle = [
        f"{_name(score)} ({100 * score.penalty_active:.1f} %)"
        for score in scores
        if score.penalty_active is not None
        and score.penalty_active < INACTIVE
        and not score.weightless
    ]
    if idle:
        yield (
            f"The penalty had a gradient in hardly any epoch of {_some(idle)}: it stood above its "
            "clamp or was zero, and the result is that of the backbone."
        )


def _budgets(scores: Sequence[Score]) -> Iterator[str]:
    for graph in dict.fromkeys(score.graph for score in scores):
        own = [score for score in scores if score.graph == graph]
        trials = {score.budget.trials for score in own}
        finals = {score.units for score in own}
        if len(trials) > 1 or len(finals) > 1:
            parts = [f"{s.method} {s.budget.trials} trials, {s.budget.finals} finals" for s in own]
            yield f"Unequal budgets on {graph}: {_some(parts)}."
    short = [_name(score) for score in scores if not score.full]
    if short:
        yield (
            f"No trial of {_some(short)} had all repeats: the winner comes from the highest rung."
        )


def _unfinished(runs: Sequence[RunView], scores: Sequence[Score]) -> Iterator[str]:
    done = {(score.graph, score.condition, score.method) for score in scores}
    planned = {tuple(place) for run in runs for place in json.loads(run.row.studies)}
    missing = sorted(planned - done)
    if missing:
        names = [f"{method} on {_place(graph, condition)}" for graph, condition, method in missing]
        yield f"No finals yet for {len(missing)} of {len(planned)} studies: {_some(names)}."


def _versions(runs: Sequence[RunView]) -> Iterator[str]:
    found: dict[str, dict[str, None]] = {}
    for environment in (each for run in runs for each in environments(run.row)):
        for name, version in environment.versions.items():
            found.setdefault(name, {})[str(version)] = None
    mixed = [f"{name} {' and '.join(kinds)}" for name, kinds in found.items() if len(kinds) > 1]
    if mixed:
        yield f"Mixed versions: {_some(mixed)}. Differences may come from them."


def _across(across: Across) -> Iterator[str]:
    place = f"{len(across.graphs)} distinct graphs"
    if across.friedman is not None:
        yield (
            f"Over {place} Friedman's test (Iman-Davenport) gives p = {across.friedman:.2g}: the "
            f"methods {'differ' if across.friedman < 0.05 else 'are not told apart'}."
        )
    for kind, pairs in (("planned comparisons", across.planned), ("all pairs", across.pairs)):
        apart = [f"{pair.method} and {pair.against}" for pair in pairs if pair.p_holm < LEVEL]
        listed = f" ({_some(apart)})" if apart else ""
        least = least_p(len(across.graphs)) * len(pairs)
        hopeless = (
            f"; none could be: p_holm of {len(pairs)} is at least {min(least, 1.0):.2g} here"
            if least >= LEVEL
            else ""
        )
        if pairs:
            yield (
                f"Wilcoxon's test with Holm's correction over {place}, {kind}: {len(apart)} of "
                f"{len(pairs)} told apart{listed}{hopeless}."
            )


def _name(score: Score) -> str:
    return f"{score.method} on {_place(score.graph, score.condition)}"


def _place(graph: str, condition: str) -> str:
    return f"{graph} ({condition})" if condition else graph


def _some(names: Iterable[str], most: int = 6) -> str:
    """All names, or the first ones and how many there are besides."""
    listed = list(names)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")
