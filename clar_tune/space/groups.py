"""What studies of a plan owe to each other: arms of finals, and trials to exchange points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clar_tune.switches import arms_beside

if TYPE_CHECKING:
    from clar_tune.space.options import Options
    from clar_tune.space.study_plan import StudyPlan

EXCHANGING = ("tpe", "gp", "random")
"""Samplers whose studies exchange points; a grid has its own."""

FEWEST = 8
"""Trials of a search, fewer of which leave none to be exchanged."""


def in_groups(studies: Sequence[StudyPlan], options: Options) -> Iterator[StudyPlan]:
    """The studies with the arms of their finals, and with how many of their trials exchange.

    E = max(2, T / 4) of T trials do, in groups that have a plain study and another to learn from.
    """
    plain = {study.group for study in studies if study.columns.regularizer == "none"}
    able = Counter(study.group for study in studies if _can_exchange(study, options))
    for study in studies:
        with_plain = study.group in plain
        arms = arms_beside(study.columns.regularizer, plain=with_plain)
        exchanges = with_plain and able[study.group] > 1 and _can_exchange(study, options)
        yield replace(
            study,
            arms=arms if study.ablation else (),
            exchanged=max(2, _asked(study, options) // 4) if exchanges else 0,
        )


def _can_exchange(study: StudyPlan, options: Options) -> bool:
    """Whether a study has a search that does not use up its space."""
    asked, count = _asked(study, options), study.parameters.count
    searches = study.has_search and study.rules.sampler in EXCHANGING
    return searches and asked >= FEWEST and (count is None or count > asked)


def _asked(study: StudyPlan, options: Options) -> int:
    """Trials asked for at first: an extended search has exchanged already."""
    return options.first_trials or study.rules.trials
