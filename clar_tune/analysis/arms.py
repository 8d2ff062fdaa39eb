"""Which finals of a stored study belong to which arm of its winner."""

from collections.abc import Iterable, Mapping, Sequence

from clar_tune.conditions import most_alike, parts_of
from clar_tune.graphs import VARIANTS
from clar_tune.records import Params
from clar_tune.rows import FinalRow, PlannedStudy
from clar_tune.switches import ANY, idle_arms

_CHANGED: Mapping[str, Params] = {"nl": {"beta": 0.0}, "any": {"sampling": ANY}}

Name = tuple[str, str, str]
"""Graph, method and condition of a study."""


def plain_partners(planned: Sequence[PlannedStudy]) -> dict[Name, Name]:
    """Of each study whose winner is to be crossed, the plain study whose winner that takes."""
    plains: dict[tuple[str, str], list[tuple[Mapping[str, str], Name]]] = {}
    for plan in planned:
        alike = plains.setdefault((plan.graph, plan.method), [])
        alike.append((parts_of(plan.condition), _name(plan)))
    found = {}
    for plan in planned:
        if "cross" in plan.arms:
            others = plains.get((plan.graph, plan.method.partition("+")[0]), [])
            partner = most_alike(parts_of(plan.condition), others, VARIANTS)
            if partner is not None:
                found[_name(plan)] = partner
    return found


def arms_in(
    finals: Iterable[FinalRow], winner: Params, plain: Params | None
) -> dict[str, tuple[FinalRow, ...]]:
    """The finals of a winner's arms beside ``on``; ``plain`` are the plain winner's parameters.

    An arm is known by what it trains: of a former winner's finals those are among them that
    train the same.
    """
    found: dict[str, list[FinalRow]] = {}
    for final in sorted(finals, key=lambda final: final.repeat):
        if final.arm != "on" and _belongs(final, winner, plain):
            found.setdefault(final.arm, []).append(final)
    return {arm: tuple(rows) for arm, rows in found.items()}


def idle_in(regularizer: str, winner: Params, *, crossed: bool) -> frozenset[str]:
    """Arms that a winner does not have; ``crossed``: there is, or may be, a plain winner."""
    idle = idle_arms(regularizer, winner)
    return idle if crossed else idle | {"cross"}


def _belongs(final: FinalRow, winner: Params, plain: Params | None) -> bool:
    params = final.params
    if final.arm == "cross":
        own = {name: value for name, value in params.items() if name not in (plain or {})}
        return plain is not None and is_within(plain, params) and is_within(own, winner)
    return is_within(params, {**winner, **_CHANGED.get(final.arm, {})})


def is_within(some: Params, params: Params) -> bool:
    """Whether a configuration has all parameters of another, with the same values."""
    return all(name in params and params[name] == value for name, value in some.items())


def _name(plan: PlannedStudy) -> Name:
    return plan.graph, plan.method, plan.condition
