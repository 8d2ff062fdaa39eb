"""The first points of a search, which all methods of a backbone share as far as they can."""

import inspect
from typing import Any

import numpy as np

from clar_tune.models import known_values
from clar_tune.records import Params, Value
from clar_tune.seeds import seed_for
from clar_tune.space import Choice, Domain, Range, StudyPlan

KNOWN = 1
"""Points that a search begins with before those of its start-up."""


class StartUp:
    """Points of one study, by the numbers of its first trials.

    Point 0 is the known one: the values that papers use, each moved to the nearest that the space
    allows. Those after it come from two scrambled Sobol sequences: one over the parameters of the
    plain backbone, which is the same for all methods of its group, and one over those of the
    regularizer, which is the study's own. Where methods have other ranges for a shared parameter,
    its place between their ends is what is equal.
    """

    def __init__(self, plan: StudyPlan) -> None:
        self._plan, self._parameters = plan, plan.parameters
        self._shared = sorted(plan.method.plain.parameters())
        searched = [parameter.name for parameter in plan.parameters.searched]
        self._own = [name for name in searched if name not in self._shared]

    def known(self) -> dict[str, Value]:
        """The configuration of values that papers use."""
        return nearest(self._plan, known_values(self._plan.method, self._plan.known))

    def point(self, number: int, attempt: int) -> dict[str, Value]:
        """Point ``number``; asked again, the shared part stays and the regularizer's is redrawn.

        Where the regularizer has nothing to search, all of it is.
        """
        if attempt and not self._own:
            return self.drawn(number, attempt)
        shared = self._sobol(self._group_seed(), self._shared, number)
        if attempt:
            draw = np.random.Generator(np.random.PCG64(self._seed(number, attempt)))
            own = dict(zip(self._own, draw.random(len(self._own)).tolist(), strict=True))
        else:
            own = self._sobol(self._seed(), self._own, number)
        unit = {**shared, **own}
        return self._parameters.at([unit[p.name] for p in self._parameters.searched])

    def drawn(self, number: int, attempt: int) -> dict[str, Value]:
        """A point that is plainly random."""
        draw = np.random.Generator(np.random.PCG64(self._seed(number, attempt)))
        return self._parameters.at(draw.random(len(self._parameters.searched)).tolist())

    def _sobol(self, seed: int, names: list[str], number: int) -> dict[str, float]:
        """Point ``number`` of a sequence that has a coordinate for each name."""
        if not names:
            return {}
        from scipy.stats import qmc  # here, because it takes longer than most plans

        sequence = qmc.Sobol(len(names), rng=seed % 2**32)
        if number > KNOWN:  # scipy cannot go forward by nothing
            sequence.fast_forward(number - KNOWN)
        return dict(zip(names, sequence.random(1)[0].tolist(), strict=True))

    def _group_seed(self) -> int:
        graph, backbone, condition, _ = self._plan.group
        return seed_for("start-up", self._plan.seed, graph, backbone, condition)

    def _seed(self, *of: int) -> int:
        c = self._plan.columns
        return seed_for("ask", self._plan.seed, c.graph, c.method, c.condition, *of)


def nearest(plan: StudyPlan, wanted: Params) -> dict[str, Value]:
    """The configuration of a study nearest to some values, parameter by parameter."""
    chosen: dict[str, Value] = {}
    for parameter in plan.parameters:
        if parameter.active(chosen):
            value = wanted.get(parameter.name, inspect.Parameter.empty)
            chosen[parameter.name] = _nearest(parameter.domain, value)
    return chosen


def _nearest(domain: Domain, value: Any) -> Value:
    """The allowed value nearest to one; where that has no meaning, the middle of the domain.

    Of two that are equally near it is the smaller.
    """
    if value is not inspect.Parameter.empty and domain.holds(value):
        allowed: Value = value
        return allowed
    if not isinstance(value, int | float) or isinstance(value, bool):
        return domain.at(0.5)
    if isinstance(domain, Range):
        inside = min(max(value, domain.low), domain.high)
        return round(inside) if domain.integer else inside
    numbers = [v for v in domain.values if isinstance(v, int | float) and not isinstance(v, bool)]
    if not isinstance(domain, Choice) or not numbers:
        return domain.at(0.5)
    return min(numbers, key=lambda number: (round(abs(number - value), 12), number))
