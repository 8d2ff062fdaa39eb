"""What can and what cannot be concluded from a table, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.agreement import correlation_sentences
from clar_tune.analysis.layout import Place, whole_condition
from clar_tune.analysis.records import Across, Contrast, Correlation, PairAcross, Score
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.scores import COMPLEMENT, WEIGHTS
from clar_tune.analysis.statistics import LEVEL, least_p
from clar_tune.analysis.verdicts import verdict_sentences
from clar_tune.analysis.wording import counted, place, probability, some
from clar_tune.graphs.catalogue import is_generated
from clar_tune.rows import environments

INACTIVE = 0.05
"""A penalty with a gradient in a smaller share of epochs hardly took part."""
FEW_PAIRS = 0.01
"""A smaller share of all pairs of nodes is hardly any."""


def conclusions_of(
    runs: Sequence[RunView],
    places: Sequence[Place],
    scores: Sequence[Score],
    contrasts: Sequence[Contrast],
    correlations: Sequence[Correlation],
    across: Across,
) -> Iterator[str]:
    """One sentence each; ``places`` are all that the runs set out to fill."""
    yield from correlation_sentences(correlations)
    yield from verdict_sentences(contrasts)
    yield from _idle(scores)
    yield from _remote(scores)
    yield from _budgets(scores)
    yield from _unfinished(places, scores)
    yield from _versions(runs)
    if all(is_generated(score.graph) for score in scores) and scores:
        yield "Generated graphs only: nothing follows for real ones."
    if across.reason:
        yield f"No test across graphs: {across.reason}"
    else:
        yield from _across(across)


def _idle(scores: Sequence[Score]) -> Iterator[str]:
    chosen = [score for score in scores if not _fixes_weights(score)]
    off = [score for score in chosen if score.weightless]
    if off:
        yield (
            f"Validation chose weight 0, the plain backbone, for {some(map(_name, off))}: "
            "what differs there is no effect of the penalty."
        )
    half = [score for score in chosen if score.without_complement]
    if half:
        yield (
            f"Validation chose {COMPLEMENT} 0, which is nl, for {some(map(_name, half))}: what "
            "differs there is no effect of the complement."
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
            f"The penalty had a gradient in hardly any epoch of {some(idle)}: it stood above its "
            "clamp or was zero. Where it never had one, the backbone alone was trained."
        )


def _remote(scores: Sequence[Score]) -> Iterator[str]:
    few = {
        score.graph: f"{score.graph} ({100 * score.remote_share:.2g} %)"
        for score in scores
        if score.remote_share is not None and score.remote_share < FEW_PAIRS
    }
    if few:
        yield (
            f"madreg sets remote against near pairs, and hardly any pair of nodes is remote on "
            f"{some(few.values())}."
        )


def _fixes_weights(score: Score) -> bool:
    """Whether the condition, and not validation, says what the weights are."""
    given = whole_condition((score.graph, score.condition, score.method))
    return any(weight in given for weight in WEIGHTS)


def _budgets(scores: Sequence[Score]) -> Iterator[str]:
    for graph in dict.fromkeys(score.graph for score in scores):
        own = [score for score in scores if score.graph == graph]
        trials = {score.budget.trials for score in own}
        finals = {score.budget.finals for score in own}
        if len(trials) > 1 or len(finals) > 1:
            parts = [f"{s.method} {s.budget.trials} trials, {s.budget.finals} finals" for s in own]
            yield f"Unequal budgets on {graph}: {some(parts)}."
    short = [_name(score) for score in scores if not score.full]
    if short:
        yield (
            f"No trial of {some(short)} had all repeats: the winner comes from the highest rung."
        )


def _unfinished(places: Sequence[Place], scores: Sequence[Score]) -> Iterator[str]:
    done = {(score.graph, score.condition, score.method) for score in scores}
    missing = sorted(set(places) - done)
    if missing:
        names = [f"{method} on {place(graph, condition)}" for graph, condition, method in missing]
        yield (
            f"No finals yet for {len(missing)} of {counted(len(places), 'study', 'studies')}: "
            f"{some(names)}."
        )


def _versions(runs: Sequence[RunView]) -> Iterator[str]:
    found: dict[str, dict[str, None]] = {}
    for environment in (each for run in runs for each in environments(run.row)):
        for name, version in environment.versions.items():
            found.setdefault(name, {})[str(version)] = None
    mixed = [f"{name} {' and '.join(kinds)}" for name, kinds in found.items() if len(kinds) > 1]
    if mixed:
        yield f"Mixed versions: {some(mixed)}. Differences may come from them."


def _across(across: Across) -> Iterator[str]:
    over = counted(len(across.graphs), "distinct graph")
    if across.friedman is not None:
        yield (
            f"Over {over} Friedman's test (Iman-Davenport) gives {probability(across.friedman)}: "
            f"the methods {'differ' if across.friedman < LEVEL else 'are not told apart'}."
        )
    for kind, pairs in (("planned comparisons", across.planned), ("all pairs", across.pairs)):
        if pairs:
            apart = [_ahead(pair) for pair in pairs if pair.p_holm < LEVEL]
            listed = f": {some(apart)}" if apart else ""
            yield (
                f"Wilcoxon's test with Holm's correction over {over}, {kind}: {len(apart)} of "
                f"{len(pairs)} told apart{listed}{_hopeless(across, len(pairs))}."
            )


def _ahead(pair: PairAcross) -> str:
    """``the better over the worse``."""
    worse = pair.method if pair.ahead == pair.against else pair.against
    return f"{pair.ahead} over {worse}"


def _hopeless(across: Across, pairs: int) -> str:
    least = least_p(len(across.graphs)) * pairs
    if least < LEVEL:
        return ""
    return f"; none could be: p_holm of {pairs} is at least {min(least, 1.0):.2g} here"


def _name(score: Score) -> str:
    return f"{score.method} on {place(score.graph, score.condition)}"
