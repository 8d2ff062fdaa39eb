"""Marks in a table, and what they mean."""

from collections.abc import Iterable

from clar_tune.analysis import Comparison, Row, Score
from clar_tune.report.blocks import EVERYWHERE, PRINT, Note
from clar_tune.report.texts import name, place

BEST = "*"
USED_UP = "†"
NOT_FULL = "‡"
WEIGHTLESS = "§"
AS_NL = "¶"
AT_FLOOR = "⊥"
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MEANINGS = {
    BEST: "best of its row",
    USED_UP: "fewer trials than asked for: the space is used up",
    NOT_FULL: "no trial had all repeats: the winner comes from the highest rung",
    WEIGHTLESS: "weight 0: the plain backbone",
    AS_NL: "beta 0: no complement, as in nl",
    AT_FLOOR: "not above the constant answer",
}


def marks(score: Score) -> str:
    """What must be known of a score."""
    held = {
        BEST: score.best,
        USED_UP: score.used_up,
        NOT_FULL: not score.full,
        WEIGHTLESS: score.weightless,
        AS_NL: score.without_complement,
        AT_FLOOR: score.above_floor is False,
    }
    return "".join(mark for mark, holds in held.items() if holds)


def switched_off(score: Score) -> str:
    """The mark of a regularizer that its weights switch off, or switch to another."""
    return "".join(mark for mark in marks(score) if mark in (WEIGHTLESS, AS_NL))


def labels(comparison: Comparison) -> list[str]:
    """Every row's graph and condition, with the numbers of its notes."""
    noted = _notes(comparison.rows)
    numbers = _numbers(noted)
    return [
        place(row.graph, row.condition) + ",".join(numbers[note] for note in own)
        for row, own in zip(comparison.rows, noted, strict=True)
    ]


def notes_of(comparison: Comparison) -> tuple[Note, ...]:
    """The meaning of every mark that occurs; a page has bold type and small print for some."""
    present = "".join(marks(score) for score in comparison.scores)
    numbers = _numbers(_notes(comparison.rows))
    return (
        *(
            Note(mark, meaning, (PRINT,) if mark == BEST else EVERYWHERE)
            for mark, meaning in _MEANINGS.items()
            if mark in present
        ),
        *(Note(number, name(note), (PRINT,)) for note, number in numbers.items()),
    )


def _numbers(noted: Iterable[Iterable[str]]) -> dict[str, str]:
    """A raised number for every note, in order of appearance."""
    found = dict.fromkeys(note for own in noted for note in own)
    return {note: str(number).translate(_RAISED) for number, note in enumerate(found, 1)}


def _notes(rows: Iterable[Row]) -> list[list[str]]:
    """The notes of every row, and its metric and protocol where rows differ in them."""
    listed = list(rows)
    metrics = len({row.metric for row in listed}) > 1
    protocols = len({row.protocol for row in listed}) > 1
    return [[*[row.metric] * metrics, *[row.protocol] * protocols, *row.notes] for row in listed]
