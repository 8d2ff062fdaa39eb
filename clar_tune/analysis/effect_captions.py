"""How effects and verdicts are to be read, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.effect_records import NODES, PenaltyEffect
from clar_tune.analysis.families import Judging
from clar_tune.analysis.verdicts import promise_of_look
from clar_tune.analysis.wording import counted, margin_of


def effect_captions(
    effects: Sequence[PenaltyEffect], judging: Judging, *, outer: bool, percent: bool = True
) -> Iterator[str]:
    """Nothing where no effect is shown.

    ``outer`` is whether test nodes were withheld, ``percent`` whether scores are printed so.
    """
    if not effects:
        return
    yield (
        "Effect of the penalty: at the configurations this search found, what switching the "
        "penalty on changes; the mean of on - off (the regularized winner, its penalty switched "
        "off) and cross - plain (the plain winner with and without those penalties), split by "
        "split. At the regularized winner's parameters the search has favoured on, at the plain "
        "winner's off."
    )
    yield from _scopes(effects, outer=outer)
    yield from _verdicts(effects, judging, percent=percent)
    yield from _looks(judging)
    yield from _collapses(effects) if percent else ()
    yield from _capped(effects)


def _scopes(effects: Sequence[PenaltyEffect], *, outer: bool) -> Iterator[str]:
    if outer:
        yield "±: 95 % interval, this test set, new training splits; verdicts are about ± nodes."
    if any(effect.nodes_half is not None for effect in effects):
        chosen = "" if outer else "; configuration chosen on these nodes"
        yield (
            "± nodes: 95 % interval had nodes and edges been drawn again from the same source, at "
            f"this size{chosen}."
        )


def _verdicts(
    effects: Sequence[PenaltyEffect], judging: Judging, *, percent: bool
) -> Iterator[str]:
    families = {(e.regularizer, e.protocol): e.family for e in effects}
    sizes = ", ".join(f"{name} {count}" for (name, _), count in families.items())
    level = f"{100 * judging.level:.3g} %"
    scope = "test nodes as a sample" if judging.scope == NODES else "new splits of this graph"
    margin = (
        margin_of(judging.margin) if percent else f"{100 * judging.margin:g} % of the plain error"
    )
    yield (
        f"Verdicts ({scope}): Holm's correction over all planned cells of a regularizer "
        f"({sizes}), once for differences, once for equality within {margin}, each at {level}: at "
        "most that chance of any false better or worse, and of any false equal. "
        "Printed intervals are unadjusted; verdicts are stricter."
    )
    yield (
        "equal: within the margin. undecided: neither. unused: the search declined the penalty. "
        "at the floor: neither side beats a constant answer. none: no result yet."
    )


def _looks(judging: Judging) -> Iterator[str]:
    if judging.look:
        yield (
            f"Finals were added {counted(judging.look, 'time')} after verdicts could be read: "
            f"this look tests at {100 * judging.level:.3g} %, so that the chance of a false claim "
            f"at any look is at most {100 * promise_of_look(judging.look):.3g} %."
        )


def _collapses(effects: Sequence[PenaltyEffect]) -> Iterator[str]:
    sound = [e.units for e in effects if e.units and not e.collapsed and e.unit != "search"]
    if sound:
        yield (
            f"No final of {min(sound)} collapsed (fell 25 points below the median of its arm) "
            f"where none is told: the chance of it is at most {min(1.0, 3 / min(sound)):.2g} "
            "there, with 95 % confidence."
        )


def _capped(effects: Sequence[PenaltyEffect]) -> Iterator[str]:
    capped = [f"{e.method} on {e.graph}" for e in effects if e.at_cap]
    if capped:
        yield f"More finals were wanted than allowed for the precision of {', '.join(capped)}."
