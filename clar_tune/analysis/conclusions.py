"""What can and what cannot be concluded from a table: a headline, and a few sentences."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clar_tune.analysis import effect_sentences as of_effects, remarks
from clar_tune.analysis.correlation_sentences import correlation_sentences
from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.layout import Place
from clar_tune.analysis.penalty_sentences import declined_penalties, idle_penalties
from clar_tune.analysis.planned import regularizer_of
from clar_tune.analysis.records import Across, Contrast, Correlation, Row, Score
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.statistics import ENOUGH_SEARCHES
from clar_tune.analysis.wording import counted, named, place, points, some
from clar_tune.version import NUMBERS_VERSION

MOST_SENTENCES = 5
"""More are not read; the rest are remarks."""


class Findings(NamedTuple):
    """All that sentences are made of."""

    runs: Sequence[RunView]
    places: Sequence[Place]
    """All that the runs set out to fill."""
    rows: Sequence[Row]
    scores: Sequence[Score]
    contrasts: Sequence[Contrast]
    effects: Sequence[PenaltyEffect]
    correlations: Sequence[Correlation]
    across: Across
    mixed: Sequence[str]
    """What is said of runs whose spaces differ."""


def headline_of(found: Findings) -> str:
    """The answer in one line."""
    first = next(correlation_sentences(found.correlations), "")
    if first:
        return first
    if found.effects:
        return of_effects.headline_of(found.effects, of_effects.metrics_of(found.rows))
    regularizers = list(dict.fromkeys(filter(None, map(regularizer_of, found.places))))
    if regularizers and found.scores:
        names = ", ".join(name.upper() for name in regularizers)
        why = (
            ", arms were not trained"
            if _may_have_effects(found)
            else " (older numbers: neither arms nor floor nor label shift stored)"
        )
        return f"{names}: effect not measured{why}; tuned gains are described"
    best = [score for score in found.scores if score.best]
    if best:
        return f"No penalty to judge; best means: {some(map(named, best))}"
    return "No penalty to judge" if found.scores else ""


def sentences_of(found: Findings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sentences that matter most, and all others."""
    said = list(_answers(found))
    return tuple(said[:MOST_SENTENCES]), (*said[MOST_SENTENCES:], *_circumstances(found))


def _answers(found: Findings) -> Iterator[str]:
    """What follows for cells, in order of importance."""
    effects = of_effects.champion_first(found.effects)
    metrics = of_effects.metrics_of(found.rows)
    correlated = list(correlation_sentences(found.correlations))
    yield from _shift(found.rows)
    yield from _older_numbers(found)
    yield from found.mixed
    yield from correlated[1:]  # the first is the headline
    searched = any(plan.repeats for run in found.runs for plan in run.row.planned)
    yield from of_effects.decided_cells(effects, metrics, searched=searched)
    yield from of_effects.one_half_cells(effects)
    floors = [*of_effects.floor_cells(effects), *_below_floor(found.scores, found.rows)]
    yield from [" ".join(floors)] if floors else ()
    yield from of_effects.contrary_cells(effects, metrics)
    yield from of_effects.undecided_cells(effects, found.rows)
    yield from _generated(found)
    yield from remarks.unfinished(found.places, found.scores)
    yield from _without_arms(found)
    yield from of_effects.collapsed_cells(effects)
    yield from _collapsed_winners(found)
    yield from idle_penalties(found.scores)
    yield from of_effects.complement_cells(effects, metrics)
    yield from declined_penalties(found.scores)
    yield from _tuned(found.contrasts, metrics)


def _circumstances(found: Findings) -> Iterator[str]:
    """Tallies, and under which circumstances numbers came about."""
    metrics = of_effects.metrics_of(found.rows)
    yield from of_effects.other_tallies(found.effects, metrics) if found.effects else ()
    yield from remarks.remote_pairs(found.scores)
    yield from remarks.budgets(found.scores)
    yield from remarks.mixed_versions(found.runs)
    yield from remarks.older_numbers(found.runs)
    if found.across.reason:
        yield f"No test across graphs: {found.across.reason}"
    else:
        yield from remarks.across_graphs(found.across)


def _shift(rows: Sequence[Row]) -> Iterator[str]:
    much = [row for row in rows if row.is_shifted]
    if much:
        listed = some(f"{place(row.graph, row.condition)} {row.shift:.2f}" for row in much)
        yield (
            f"Test nodes have other class shares than training nodes (label shift {listed}): "
            "there a gain of accuracy may be a step towards the large classes; read balanced "
            "accuracy beside it."
        )


def _below_floor(scores: Sequence[Score], rows: Sequence[Row]) -> Iterator[str]:
    floors = {(row.graph, row.condition): row for row in rows}
    below = [score for score in scores if score.above_floor is False]
    graphs = dict.fromkeys((score.graph, score.condition) for score in below)
    parts = []
    for graph, condition in graphs:
        row = floors[graph, condition]
        methods = [s.method for s in below if (s.graph, s.condition) == (graph, condition)]
        constant = points(row.floor or 0.0, row.metric).lstrip("+")
        parts.append(f"{some(methods)} on {place(graph, condition)} (constant {constant})")
    if parts:
        yield f"Not above a constant answer: {some(parts)}."


def _without_arms(found: Findings) -> Iterator[str]:
    """Runs whose effects nobody can tell, and what to do about it."""
    lacking = [effect for effect in found.effects if effect.reason == "arms"]
    if found.effects and not lacking:
        return
    if not found.effects and not any(map(regularizer_of, found.places)) or not found.scores:
        return
    if not _may_have_effects(found):
        return
    which = f" of {some(map(named, lacking))}" if lacking else ""
    for run in found.runs:
        if all(plan.arms for plan in run.row.planned if "+" in plan.method):
            continue
        remedy = f"`clar-tune extend {run.name} --ablation` adds them"
        if run.row.numbers != NUMBERS_VERSION:
            remedy = f"{run.name} has an older version of the numbers, so that none can be added"
        yield (
            f"Arms{which} were not trained: {remedy}; tuned gains mix what the penalty does with "
            "what the search found."
        )


def _collapsed_winners(found: Findings) -> Iterator[str]:
    """Winners with trainings far below the others, where no effect tells of them."""
    told = {(e.graph, e.condition, name) for e in found.effects for name in (e.method, e.against)}
    own = [
        score
        for score in found.scores
        if score.collapsed and (score.graph, score.condition, score.method) not in told
    ]
    if own:
        listed = (f"{named(s)} ({s.collapsed} of {s.budget.finals} collapsed)" for s in own)
        yield f"Finals more than 25 points below their median: {some(listed)}."


def _older_numbers(found: Findings) -> Iterator[str]:
    """What cannot be known of runs that are stored without arms, floor and shift."""
    if found.scores and not _may_have_effects(found):
        versions = " and ".join(dict.fromkeys(str(run.row.numbers) for run in found.runs))
        gains = (
            " Tuned gains mix what the penalty does with what the search found."
            if any(map(regularizer_of, found.places))
            else ""
        )
        yield (
            f"Stored by an older version of the numbers ({versions}, now {NUMBERS_VERSION}), "
            "which has no effects: arms were not trained, floor and label shift are not stored, "
            f"so that a constant answer may do as well.{gains}"
        )


def _may_have_effects(found: Findings) -> bool:
    return all(run.row.may_have_effects for run in found.runs)


def _generated(found: Findings) -> Iterator[str]:
    facts = {name: own for run in found.runs for name, own in run.row.graphs.items()}
    if found.scores and all(facts[score.graph].generated for score in found.scores):
        names = dict.fromkeys(score.graph for score in found.scores)
        yield f"Generated graphs only ({some(names)}): nothing follows for real ones."


def _tuned(contrasts: Sequence[Contrast], metrics: of_effects.Metrics) -> Iterator[str]:
    """Verdicts on tuned gains, or how many searches they need."""
    for rival, what in ((False, "Tuned gains over the backbone"), (True, "clar over its rivals")):
        own = [c for c in contrasts if c.rival == rival and c.verdict not in ("none", "undecided")]
        if own:
            listed = (f"{c.verdict} {_compared(c, metrics)}" for c in own)
            yield f"{what}, over repeated searches: {some(listed)}."
    few = [contrast for contrast in contrasts if contrast.reason == "searches"]
    if few:
        yield (
            f"No verdict on {counted(len(few), 'tuned gain')}: one needs {ENOUGH_SEARCHES} "
            f"searches (--searches {ENOUGH_SEARCHES}), and there are {max(c.units for c in few)}."
        )


def _compared(contrast: Contrast, metrics: of_effects.Metrics) -> str:
    over = f" over {contrast.against}" if contrast.rival else ""
    metric = metrics[contrast.graph, contrast.condition]
    at = place(contrast.graph, contrast.condition)
    gain = points(contrast.gain, metric, contrast.half_width)
    return f"{contrast.method}{over} on {at} ({gain})"
