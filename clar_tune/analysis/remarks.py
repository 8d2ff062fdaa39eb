"""What must be known of a table besides what is concluded from it, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.layout import Place
from clar_tune.analysis.records import Across, PairAcross, Score
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.statistics import LEVEL, least_p
from clar_tune.analysis.wording import counted, named, place, probability, some
from clar_tune.rows import environments
from clar_tune.version import NUMBERS_VERSION

FEW_PAIRS = 0.01
"""A smaller share of all pairs of nodes is hardly any."""


def remote_pairs(scores: Sequence[Score]) -> Iterator[str]:
    """Graphs on which madreg has hardly anything to set apart."""
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


def budgets(scores: Sequence[Score]) -> Iterator[str]:
    """Methods of a graph that got unequal budgets, and winners of few repeats."""
    for graph in dict.fromkeys(score.graph for score in scores):
        own = [score for score in scores if score.graph == graph]
        trials = {score.budget.trials for score in own}
        finals = {score.budget.finals for score in own}
        if len(trials) > 1 or len(finals) > 1:
            parts = [f"{s.method} {s.budget.trials} trials, {s.budget.finals} finals" for s in own]
            yield f"Unequal budgets on {graph}: {some(parts)}."
    short = [named(score) for score in scores if not score.full]
    if short:
        yield (
            f"No trial of {some(short)} had all repeats: the winner comes from the highest rung."
        )


def unfinished(places: Sequence[Place], scores: Sequence[Score]) -> Iterator[str]:
    """Places without finals."""
    done = {(score.graph, score.condition, score.method) for score in scores}
    missing = sorted(set(places) - done)
    if missing:
        names = [f"{method} on {place(graph, condition)}" for graph, condition, method in missing]
        yield (
            f"No finals yet for {len(missing)} of {counted(len(places), 'study', 'studies')}: "
            f"{some(names)}."
        )


def mixed_versions(runs: Sequence[RunView]) -> Iterator[str]:
    """Versions that differ between drivers."""
    found: dict[str, dict[str, None]] = {}
    for environment in (each for run in runs for each in environments(run.row)):
        for name, version in environment.versions.items():
            found.setdefault(name, {})[str(version)] = None
    mixed = [f"{name} {' and '.join(kinds)}" for name, kinds in found.items() if len(kinds) > 1]
    if mixed:
        yield f"Mixed versions: {some(mixed)}. Differences may come from them."


def older_numbers(runs: Sequence[RunView]) -> Iterator[str]:
    """Runs whose trainings would give other numbers today."""
    older = [run for run in runs if run.row.numbers != NUMBERS_VERSION]
    if older:
        listed = some(f"{run.name} {run.row.numbers}" for run in older)
        yield (
            f"Numbers of an older version (now {NUMBERS_VERSION}): {listed}. They stand as they "
            "are; newer runs are not joined with them."
        )


def across_graphs(across: Across) -> Iterator[str]:
    """Tests over distinct graphs."""
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
