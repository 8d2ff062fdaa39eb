"""What winners side by side answer: one conclusion for each question."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from clar_tune.analysis.effect_sentences import Metrics
from clar_tune.analysis.families import Judging
from clar_tune.analysis.layout import split_label
from clar_tune.analysis.listing import by_method
from clar_tune.analysis.records import Contrast
from clar_tune.analysis.statistics import ENOUGH_SEARCHES, ENOUGH_UNITS
from clar_tune.analysis.wording import counted, margin_of, named, points
from clar_tune.metric import metric_named
from clar_tune.rows import PENALTIES, Question

VERDICTS = ("better", "worse", "equal", "undecided", "at the floor", "none")
DESCRIBED = ("ahead", "behind", "not told apart")
"""Without a verdict: on which side of 0 the interval lies, if on one."""
FEW = 3
"""So many cells stand in the headline with their numbers."""
MOST_TALLIES = 4
"""Methods of which a headline tells how many cells are what."""
SHORT = {
    "search": "one search each, no verdict",
    "searches": "few searches, no verdict",
    "spaces": "other ranges, no verdict",
    "finals": "few finals, no verdict",
    "nodes": "no verdict",
    "floor": "floor not stored, no verdict",
}
"""What a headline says of comparisons without one, by reason."""
LONG = {
    "search": (
        "One search each, unadjusted 95 % intervals: a description with luck of the search in it, "
        f"to which --searches {ENOUGH_SEARCHES} gives verdicts."
    ),
    "searches": (
        "Unadjusted 95 % intervals over searches: a description, to which --searches "
        f"{ENOUGH_SEARCHES} gives verdicts."
    ),
    "spaces": (
        "Unadjusted 95 % intervals: no verdicts, as spaces give them other ranges or values."
    ),
    "finals": f"Unadjusted 95 % intervals: verdicts need {ENOUGH_UNITS} finals.",
    "nodes": (
        "Unadjusted 95 % intervals over splits: with nodes withheld there is no verdict on "
        "winners side by side."
    ),
    "floor": (
        "Unadjusted 95 % intervals: no verdicts, as what a constant answer scores is not stored."
    ),
}
"""How comparisons without a verdict are to be taken, by reason."""


def answer_headline(question: Question, cells: Sequence[Contrast], metrics: Metrics) -> str:
    """The answer in one line: single cells, or how many of them are what."""
    title = _title(question)
    if not cells:
        return f"{title}: no two winners have finals yet"
    if len(cells) <= FEW:
        told = ", ".join(f"{named(c)} {_word(c)} ({_number(c, metrics)})" for c in cells)
    else:
        told = _tallies(cells)
    reasons = "; ".join(SHORT[reason] for reason in _reasons(cells) if reason)
    return f"{title}: {told}{f': {reasons}' * bool(reasons)}"


def answer_sentences(
    question: Question,
    cells: Sequence[Contrast],
    metrics: Metrics,
    *,
    margin: float,
    over_searches: bool,
) -> Iterator[str]:
    """The same cell by cell, and how it is to be taken: one conclusion, or none."""
    parts, unit = [], "search" if over_searches else "final"

    def told(cell: Contrast) -> str:
        parts = [_number(cell, metrics)]
        if cell.small:
            parts.append(f"by less than {_limit([cell], metrics, margin)}")
        if cell.needed:
            parts.append(f"about {counted(cell.needed, unit, 'searches' * over_searches)}")
        return "; ".join(parts)

    for reason in _reasons(cells):
        own = [cell for cell in cells if cell.reason == reason]
        taken = LONG[reason] if reason else _judged(own, over_searches=over_searches)
        parts.append(f"{by_method(own, _word, told, _words(own, metrics, margin))}. {taken}")
    if parts:
        yield f"{_title(question)}, {_changed(cells, metrics)}. {' '.join(parts)}"


def answer_captions(cells: Sequence[Contrast], judging: Judging) -> Iterator[str]:
    """How their verdicts are to be read; nothing where there are none."""
    sizes = sorted({cell.family for cell in cells if not cell.reason})
    if sizes:
        margin = f"{margin_of(judging.margin)} (of errors {100 * judging.margin:g} %)"
        yield (
            "Verdicts on winners side by side: Holm's correction over all planned cells of a "
            f"question and regularizer ({' and '.join(map(str, sizes))}), once for differences, "
            f"once for equality within {margin}, each at {100 * judging.level:.3g} %; undecided: "
            "neither."
        )


def _title(question: Question) -> str:
    if question.compare == PENALTIES:
        return "Tuned gains over the plain backbone"
    return question.title[0].upper() + question.title[1:]


def _word(cell: Contrast) -> str:
    """Its verdict, or on which side of 0 its interval lies."""
    if not cell.reason:
        return cell.verdict
    if not cell.half_width or abs(cell.gain) <= cell.half_width:
        return "not told apart"
    return "ahead" if cell.gain > 0 else "behind"


def _words(cells: Sequence[Contrast], metrics: Metrics, margin: float) -> Mapping[str, str]:
    """What is said of cells, in order, as it is told."""
    within = _limit(cells, metrics, margin)
    words = {word: word for word in (*VERDICTS, *DESCRIBED)}
    return {**words, "equal": f"equal within {within}", "none": "no result"}


def _limit(cells: Sequence[Contrast], metrics: Metrics, margin: float) -> str:
    """Below what a difference counts as none; of errors it depends on their size."""
    kinds = {metrics[cell.graph, cell.condition] for cell in cells}
    return margin_of(margin) if all(metric_named(k).percent for k in kinds) else "the margin"


def _tallies(cells: Sequence[Contrast]) -> str:
    """``sage better in 2, undecided in 1 of 3 cells``, or that of all methods together."""
    methods = list(dict.fromkeys(cell.method for cell in cells))
    if len(methods) > MOST_TALLIES:
        return _tally(cells)
    own = {method: [cell for cell in cells if cell.method == method] for method in methods}
    return "; ".join(f"{method} {_tally(found)}" for method, found in own.items())


def _tally(cells: Sequence[Contrast]) -> str:
    counts = Counter(map(_word, cells))
    listed = [f"{word} in {counts[word]}" for word in (*VERDICTS, *DESCRIBED) if counts[word]]
    return f"{', '.join(listed)} of {counted(len(cells), 'cell')}"


def _reasons(cells: Sequence[Contrast]) -> list[str]:
    """Why there are no verdicts, each once; those that have one come first."""
    return sorted(dict.fromkeys(cell.reason for cell in cells), key=bool)


def _judged(cells: Sequence[Contrast], *, over_searches: bool) -> str:
    of = " and ".join(map(str, sorted({cell.family for cell in cells})))
    kinds = {split_label(cell.method)[0].partition("+")[2] for cell in cells}
    each = " of a regularizer" * (len(kinds) > 1)
    what = "over searches" if over_searches else "on these configurations, not searched here"
    return f"Verdicts {what}, after Holm's correction over all {of} planned cells{each}."


def _number(cell: Contrast, metrics: Metrics) -> str:
    return points(cell.gain, metrics[cell.graph, cell.condition], cell.half_width)


def _changed(cells: Sequence[Contrast], metrics: Metrics) -> str:
    kinds = dict.fromkeys(metrics[cell.graph, cell.condition] for cell in cells)
    return " or ".join(
        f"{kind} ({'points' if metric_named(kind).percent else '+ is better'})" for kind in kinds
    )
