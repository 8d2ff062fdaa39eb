"""How effects and verdicts are to be read, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.effect_records import NODES, PenaltyEffect
from clar_tune.analysis.families import Judging
from clar_tune.analysis.scopes import ROLES
from clar_tune.analysis.verdicts import promise_of_look
from clar_tune.analysis.wording import counted, margin_of, switched


def effect_captions(
    effects: Sequence[PenaltyEffect],
    judging: Judging,
    *,
    outer: bool,
    percent: bool = True,
    searched: bool = True,
) -> Iterator[str]:
    """Nothing where no effect is shown.

    ``outer`` is whether test nodes were withheld, ``percent`` whether scores are printed so,
    ``searched`` whether configurations were.
    """
    if not effects:
        return
    yield _effect([e for e in effects if e.kept is not None], searched=searched)
    yield from _scopes(effects, outer=outer)
    yield from _verdicts(effects, judging, percent=percent)
    yield from _columns(effects)
    yield from _looks(judging)
    yield from _collapses(effects) if percent else ()
    yield from _capped(effects)


def _effect(effects: Sequence[PenaltyEffect], *, searched: bool) -> str:
    """What the number is, with both halves of it or one."""
    at = "the configurations this search found" if searched else "these configurations"
    changed = switched(effects)
    what = f"Effect of the {changed}: at {at}, what switching the {changed} on changes; "
    on = "on - off (the regularized winner, its penalty switched off)"
    if effects and all(effect.is_half for effect in effects):
        return (
            f"{what}{on} alone, as there is no plain winner: at the regularized winner's "
            "parameters, which lean towards on."
        )
    cross = "cross - plain (the plain winner with and without those penalties)"
    favoured = (
        " At the regularized winner's parameters the search has favoured on, at the plain "
        "winner's off."
    )
    alone = " Without cross - plain it is on - off alone." * any(e.is_half for e in effects)
    return f"{what}the mean of {on} and {cross}, split by split.{favoured * searched}{alone}"


def _scopes(effects: Sequence[PenaltyEffect], *, outer: bool) -> Iterator[str]:
    if any(effect.nodes_half is not None for effect in effects):
        chosen = "" if outer else "; configuration chosen on these nodes"
        yield (
            "± nodes: 95 % interval had nodes and edges been drawn again from the same source, at "
            f"this size{chosen}. A node's share of the variance counts {ROLES:g} times, as it "
            f"also trains in other splits{'; verdicts are about ± nodes' * outer}."
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
    if any(effect.small for effect in effects):
        yield "(< margin): better or worse, and by less than that margin."
    if any(effect.is_identical for effect in effects):
        yield "identical finals: no final differs, so that nothing is tested."


def _columns(effects: Sequence[PenaltyEffect]) -> Iterator[str]:
    """What further columns hold, where there are any."""
    needed = any(effect.needed for effect in effects)
    wanted = "; needed: about how many of them would decide it" if needed else ""
    yield f"J: splits, or other units, that an effect is the mean of{wanted}."
    if any(effect.collapsed for effect in effects):
        yield (
            "collapsed: finals that fell 25 points below the median of their arm, of all arms of "
            "an effect, J finals each."
        )
    if any(effect.over_nl is not None for effect in effects):
        yield (
            "on - nl, on - any: clar's winner less the same without the complement's term, and "
            "with pairs of any nodes in place of the complement's."
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
        bounds = (f"{min(1.0, 3 / units):.2g} where J is {units}" for units in sorted({*sound}))
        yield (
            "No final collapsed (fell 25 points below the median of its arm) where none is told: "
            f"the chance of it is at most 3 / J there, {', '.join(bounds)}, with 95 % confidence."
        )


def _capped(effects: Sequence[PenaltyEffect]) -> Iterator[str]:
    capped = [f"{e.method} on {e.graph}" for e in effects if e.at_cap]
    if capped:
        yield f"More finals were wanted than allowed for the precision of {', '.join(capped)}."
