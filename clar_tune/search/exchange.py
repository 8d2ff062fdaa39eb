"""What studies of one backbone hand over to each other: the shared parameters found best.

Of T trials the last E wait until all studies of the group have done T - E. Then each tries the
best shared points of the others with its own best penalties. Which these are follows from the rows
of the first T - E trials alone: a run that was cut off finds the same.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from clar_tune.records import Params, Value
from clar_tune.search.sampler import identity
from clar_tune.search.start_up import nearest
from clar_tune.search.trial import Trial
from clar_tune.space import StudyPlan
from clar_tune.winner import may_win, preference


class Point(NamedTuple):
    """A configuration of which the shared parameters are another method's."""

    params: Params
    source: str
    """Whose they are: ``gcn+nl, trial 3``."""


class Searched(NamedTuple):
    """A study, and its trials before the exchange."""

    plan: StudyPlan
    trials: Sequence[Trial]

    @property
    def name(self) -> str:
        """The method, and its condition if there is one."""
        of = self.plan.columns
        return " ".join(filter(None, (of.method, of.condition)))

    @property
    def best(self) -> list[Trial]:
        """Those that could win, the best first."""
        able = filter(may_win, self.trials)
        return sorted(able, key=lambda trial: preference(trial, self.plan.metric), reverse=True)


def exchange_points(own: Searched, others: Sequence[Searched]) -> list[Point]:
    """The points that a study tries in the exchange, in this order; fewer if there are no more.

    Everyone's first, then everyone's second, in the order of the methods' names; what the study
    has tried before, or gets twice, counts once.
    """
    penalties = next(iter(own.best), own.trials[0]).params
    tried = {identity(trial.params) for trial in own.trials}
    in_order = sorted(others, key=lambda other: other.name)
    found: list[Point] = []
    for turn in zip_longest(*(other.best for other in in_order)):
        for other, trial in zip(in_order, turn, strict=True):
            if trial is None or len(found) == own.plan.exchanged:
                continue
            params = _crossed(own.plan, trial.params, penalties)
            if identity(params) not in tried:
                tried.add(identity(params))
                found.append(Point(params, f"{other.name}, trial {trial.trial}"))
    return found


def _crossed(plan: StudyPlan, source: Params, penalties: Params) -> dict[str, Value]:
    """The configuration with another's shared parameters, as far as the study allows them."""
    shared = {n: source.get(n, default) for n, default in plan.method.plain.parameters().items()}
    return plan.complete(nearest(plan, {**penalties, **shared}))
