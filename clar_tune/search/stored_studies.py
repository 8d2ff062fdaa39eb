"""Stored rows, handed back to the studies that they are of."""

from collections.abc import Iterable, Sequence

from clar_tune.rows import FinalRow, RepeatScore, StudyKey, TrialRow
from clar_tune.search.study import StudyState


def take_in(
    studies: Sequence[StudyState],
    trials: Iterable[TrialRow],
    repeats: Iterable[RepeatScore],
    finals: Iterable[FinalRow],
) -> list[StudyState]:
    """Give studies their rows, repeats in the order of their arrival; returns those with any.

    Repeats are looked at one by one: there may be more of them than memory holds.
    """
    stored: dict[StudyKey, list[TrialRow]] = {}
    for row in trials:
        stored.setdefault(row.study, []).append(row)
    places = {study.plan.columns.study: study for study in studies}
    begun = [places[key] for key in stored]
    while stored:
        key, rows = stored.popitem()
        places[key].restore(rows)
    for repeat in repeats:
        places[repeat.study].restore_repeat(repeat)
    for final in finals:
        study, score = places[final.study], final.test_score
        study.record_final(final.arm, final.params, final.repeat, final.seconds, score)
    return begun
