"""What effects come to, in sentences, each of which names cells."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.records import CHAMPION, Row
from clar_tune.analysis.wording import counted, margin_of, named, points, some, switched
from clar_tune.metric import metric_named
from clar_tune.precision import MOST

DECIDED = ("better", "worse", "equal")
OPEN = ("undecided", "unused", "at the floor", "none")
MOST_NAMED = 6
"""Cells that a list names, if clar has no more."""
MOST_OF_CLAR = 30
"""As many as Table III has; sweeps have hundreds."""
Metrics = Mapping[tuple[str, str], str]
"""What each row is judged by; the graph and the condition name it."""


def metrics_of(rows: Sequence[Row]) -> Metrics:
    """The metric of each row."""
    return {(row.graph, row.condition): row.metric for row in rows}


def headline_of(effects: Sequence[PenaltyEffect], metrics: Metrics) -> str:
    """How many effects are decided, and how: of clar, or of the first regularizer."""
    (name, own), *_ = _by_regularizer(effects).items()
    return f"{name.upper()}: {_tally(own, metrics)}"


def other_tallies(effects: Sequence[PenaltyEffect], metrics: Metrics) -> Iterator[str]:
    """The same of all other regularizers, in one sentence."""
    _, *others = _by_regularizer(effects).items()
    if others:
        yield f"{'; '.join(f'{name}: {_tally(own, metrics)}' for name, own in others)}."


def _by_regularizer(effects: Sequence[PenaltyEffect]) -> dict[str, list[PenaltyEffect]]:
    """Effects of each, those of clar first."""
    found: dict[str, list[PenaltyEffect]] = {}
    for effect in champion_first(effects):
        found.setdefault(effect.regularizer, []).append(effect)
    return found


def champion_first(effects: Sequence[PenaltyEffect]) -> list[PenaltyEffect]:
    """Those of clar, of which the headline tells, before all others."""
    return sorted(effects, key=lambda effect: effect.regularizer != CHAMPION)


def _listed(effects: Sequence[PenaltyEffect], told: Callable[[PenaltyEffect], str]) -> str:
    """What is told of each cell; none of clar's makes room for another's."""
    champions = sum(effect.regularizer == CHAMPION for effect in effects)
    return some(map(told, effects), max(MOST_NAMED, min(champions, MOST_OF_CLAR)))


def _tally(effects: Sequence[PenaltyEffect], metrics: Metrics) -> str:
    counts = Counter(effect.verdict for effect in effects)
    decided = sum(counts[word] for word in DECIDED)
    told = {"equal": _within(effects, metrics), "none": "no result"}

    def listed(words: Sequence[str]) -> str:
        return ", ".join(f"{told.get(word, word)} in {counts[word] or 'none'}" for word in words)

    # Whether it helps is the question, so that "better" is told also where there is none.
    answers = [word for word in DECIDED if counts[word] or word == "better"] if decided else ()
    parts = filter(None, (listed(answers), listed([word for word in OPEN if counts[word]])))
    return f"effect decided in {decided} of {counted(len(effects), 'cell')}: {'; '.join(parts)}"


def _within(effects: Sequence[PenaltyEffect], metrics: Metrics) -> str:
    percent = any(metric_named(_metric(effect, metrics)).percent for effect in effects)
    margin = next((e.margin for e in effects if e.verdict == "equal"), 0.01)
    return f"equal within {margin_of(margin)}" if percent else "equal within the margin"


def decided_cells(
    effects: Sequence[PenaltyEffect], metrics: Metrics, *, searched: bool = True
) -> Iterator[str]:
    """Which effects are decided, with their numbers."""
    at = "At the configurations this search found" if searched else "At these configurations"
    parts = []
    decided = [effect for effect in effects if effect.verdict in DECIDED]
    for word in DECIDED:
        own = [effect for effect in champion_first(effects) if effect.verdict == word]
        told = _within(own, metrics) if word == "equal" else word
        if own:
            parts.append(f"{told}: {_with_numbers(own, metrics)}")
    if parts:
        changed = f"switching the {switched(decided)} on changes {_what(effects, metrics)}"
        yield f"{at}, {changed}. {_capital('; '.join(parts))}."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _with_numbers(effects: Sequence[PenaltyEffect], metrics: Metrics) -> str:
    def told(effect: PenaltyEffect) -> str:
        if effect.is_identical:
            return f"{named(effect)} (identical finals)"
        less = f", {_by_less(effect, metrics)}" if effect.small else ""
        return f"{named(effect)} ({_number(effect, metrics)}{less})"

    return _listed(effects, told)


def _by_less(effect: PenaltyEffect, metrics: Metrics) -> str:
    percent = metric_named(_metric(effect, metrics)).percent
    return f"by less than {margin_of(effect.margin) if percent else 'the margin'}"


def _number(effect: PenaltyEffect, metrics: Metrics) -> str:
    half = effect.half if effect.scope == "splits" else effect.nodes_half
    return points(effect.effect or 0.0, _metric(effect, metrics), half)


def _what(effects: Sequence[PenaltyEffect], metrics: Metrics) -> str:
    kinds = dict.fromkeys(_metric(effect, metrics) for effect in effects if effect.units)
    return " or ".join(
        f"{kind} (points)" if metric_named(kind).percent else kind for kind in kinds
    )


def undecided_cells(effects: Sequence[PenaltyEffect], rows: Sequence[Row]) -> Iterator[str]:
    """Which are not, and what would decide them."""
    own = [effect for effect in effects if effect.verdict == "undecided"]
    if own:
        metrics, sizes = metrics_of(rows), {(r.graph, r.condition): r.test_nodes for r in rows}
        listed = _listed(
            own,
            lambda e: (
                f"{named(e)} ({_number(e, metrics)}; {_decides(e, sizes[e.graph, e.condition])})"
            ),
        )
        yield f"Undecided: {listed}."


def _decides(effect: PenaltyEffect, test_nodes: int) -> str:
    """What would decide a cell."""
    told = {
        "files": f"more finals add seeds, not splits: {counted(effect.units, 'split file')}",
        "nodes": f"more finals do not help: {counted(test_nodes, 'test node')}",
        "margin": "it lies between none and the margin, where more finals may not decide",
        "spread": "the same in every pair, so that there is no test",
        "collapsed": "collapsed trainings hide it",
        "many": f"more than {MOST:,} finals",
        "winner": "winner below plain: it differs from 0, and yet the winner scores less",
        "half": "half: it differs from 0, and the plain winner's half, which may not, is missing",
        "floor": "floor: it differs from 0, and the side ahead beats no constant answer",
        "unknown floor": "it differs from 0, and whether it beats a constant is not known",
    }
    if effect.needed is None:
        return told[effect.reason]
    return f"about {counted(effect.needed, 'final')}"


def floor_cells(effects: Sequence[PenaltyEffect]) -> Iterator[str]:
    """Cells in which neither side beats a constant answer."""
    own = [effect for effect in effects if effect.verdict == "at the floor"]
    if own:
        yield (
            f"At the floor: with and without the {switched(own)} no better than a constant answer "
            f"in {_listed(own, named)}."
        )


def one_half_cells(effects: Sequence[PenaltyEffect]) -> Iterator[str]:
    """Effects without the plain winner's half, which lean towards the penalty."""
    own = [effect for effect in effects if effect.is_half]
    if own:
        whole = len(own) > 1 and all(e.is_half for e in effects if e.kept is not None)
        listed = f"all {len(own)} cells" if whole else _listed(own, named)
        yield (
            "Only on less off, at the regularized winner's parameters, which lean towards the "
            f"{switched(own)}, so that none is better: {listed}."
        )


def contrary_cells(effects: Sequence[PenaltyEffect], metrics: Metrics) -> Iterator[str]:
    """Effects whose halves point in opposite directions: their mean hides both."""
    own = [effect for effect in effects if effect.is_contrary]
    if own:
        listed = _listed(
            own,
            lambda e: (
                f"{named(e)} ({_difference(e, 'kept', metrics)} at its own winner's, "
                f"{_difference(e, 'crossed', metrics)} at the plain winner's)"
            ),
        )
        yield (
            f"The {switched(own)} helps beside one winner's shared parameters and harms beside "
            f"the other's: {listed}. Effect and verdict are of the mean."
        )


def collapsed_cells(effects: Sequence[PenaltyEffect]) -> Iterator[str]:
    """Cells with trainings far below the others."""
    own = [effect for effect in effects if effect.collapsed]
    if own:
        listed = _listed(own, lambda e: f"{named(e)} ({e.collapsed} of {e.finals} collapsed)")
        yield f"Trainings more than 25 points below their median: {listed}."


def complement_cells(effects: Sequence[PenaltyEffect], metrics: Metrics) -> Iterator[str]:
    """What pairs of the complement do beyond pairs of any nodes, and beyond nl.

    Where an interval lies wholly on one side of 0 its cell is named; where none does, the first.
    """
    parts = []
    for field, against in (("over_any", "pairs of any nodes"), ("over_nl", "nl")):
        own = [e for e in effects if getattr(e, field) is not None]
        more, less = (
            [e for e in own if sign * getattr(e, field) > (getattr(e, f"{field}_half") or 0.0)]
            for sign in (1, -1)
        )
        if own:
            named_first = more or ([] if less else own)
            told = f"{counted(len(own), 'cell')}{_with_difference(named_first, field, metrics)}"
            worse = f" and less in {len(less)}{_with_difference(less, field, metrics)}"
            parts.append(f"than {against} in {len(more)} of {told}{worse * bool(less)}")
    if parts:
        yield f"The complement does more {', '.join(parts)}, by unadjusted 95 % intervals."


def _with_difference(effects: Sequence[PenaltyEffect], field: str, metrics: Metrics) -> str:
    listed = some((f"{named(e)} {_difference(e, field, metrics)}" for e in effects), 3)
    return f" ({listed})" if effects else ""


def _difference(effect: PenaltyEffect, field: str, metrics: Metrics) -> str:
    half = getattr(effect, f"{field}_half")
    return points(getattr(effect, field), _metric(effect, metrics), half)


def _metric(effect: PenaltyEffect, metrics: Metrics) -> str:
    return metrics.get((effect.graph, effect.condition), "accuracy")
