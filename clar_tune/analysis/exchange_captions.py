"""Which studies tried each other's shared points, and why others did not."""

from collections.abc import Iterator, Mapping, Sequence

from clar_tune.analysis.runs import RunView
from clar_tune.analysis.wording import named, some
from clar_tune.rows import PlannedStudy
from clar_tune.space import EXCHANGING, FEWEST, ParameterSet

SINCE = 3
"""The version of the numbers from which on studies exchange points."""

Group = tuple[str, str]
"""Graph and backbone."""


def exchange_captions(runs: Sequence[RunView]) -> Iterator[str]:
    """What was exchanged, and for each reason the studies that exchanged nothing."""
    searched = [plan for run in runs for plan in run.row.planned if plan.repeats]
    counts = {plan.exchanged for plan in searched if plan.exchanged}
    if counts:
        yield (
            f"The last {' or '.join(map(str, sorted(counts)))} trials of a study try the best "
            "shared points of the other methods of its backbone: a backbone with more methods "
            "explores more points, which matters where effects are compared across backbones."
        )
    reasons: dict[str, list[str]] = {}
    for run in runs:
        for plan, reason in _without(run):
            reasons.setdefault(reason, []).append(named(plan))
    for reason, studies in reasons.items():
        which = f" for {some(studies)}" if len(studies) < len(searched) else ""
        yield f"No exchange of shared parameters{which}: {reason}."


def _without(run: RunView) -> Iterator[tuple[PlannedStudy, str]]:
    """Searches of a run without an exchange; one that is alone on purpose has no reason."""
    groups: dict[Group, list[PlannedStudy]] = {}
    for plan in run.row.planned:
        groups.setdefault(_group(plan), []).append(plan)
    for plan in run.row.planned:
        reason = _reason(plan, groups[_group(plan)], run)
        if plan.repeats and not plan.exchanged and reason:
            yield plan, reason


def _group(plan: PlannedStudy) -> Group:
    return plan.graph, plan.method.partition("+")[0]


def _reason(plan: PlannedStudy, group: Sequence[PlannedStudy], run: RunView) -> str:
    """The first condition that a search does not meet."""
    methods, asked = {other.method for other in group}, _asked(plan, run.options)
    held = {
        "the run is of an older version, which had none": run.row.numbers < SINCE,
        f"the sampler {run.budget['sampler']} has cells of its own": (
            run.budget["sampler"] not in EXCHANGING
        ),
        f"searches of fewer than {FEWEST} trials have none": asked < FEWEST,
        "no plain backbone is planned": _group(plan)[1] not in methods,
        "the search uses up its space": _count(plan) <= asked,
        "no other method of its backbone has a search that can": True,
    }
    return (
        "" if methods == {_group(plan)[1]} else next(why for why, holds in held.items() if holds)
    )


def _asked(plan: PlannedStudy, options: Mapping[str, object]) -> int:
    """Trials asked for at first: those of an extended search do not exchange."""
    first = options.get("first_trials")
    return first if isinstance(first, int) else plan.trials


def _count(plan: PlannedStudy) -> float:
    """How many configurations there are, as far as anybody knows."""
    known = plan.parameters is not None and ParameterSet.from_stored(plan.parameters).count
    return known or float("inf")
