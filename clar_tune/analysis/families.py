"""Verdicts on effects, family by family: all cells planned for one regularizer and protocol."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from clar_tune.analysis.effect_records import NODES, SPLITS, PenaltyEffect
from clar_tune.analysis.effects import Measured, measured
from clar_tune.analysis.findings import Sides, finding_of
from clar_tune.analysis.layout import Place
from clar_tune.analysis.planned import PlannedCell
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.scopes import Effect
from clar_tune.analysis.statistics import ENOUGH_UNITS, LEVEL, POWER
from clar_tune.analysis.verdicts import Finding, Verdict, level_of_look, verdicts
from clar_tune.precision import Precision, finals_of_stein, finals_to_decide
from clar_tune.records import from_stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What all cells of a comparison are judged by."""

    margin: float
    look: int = 0
    """How often finals were added after verdicts could be read."""
    scope: str = SPLITS
    """Which of both scopes verdicts are of."""

    @property
    def level(self) -> float:
        """Of each of both procedures of Holm."""
        return level_of_look(self.look)

    def tests(self, family: int) -> int:
        """How many tests at 5 % have the level of Holm's first step in a family."""
        return round(family * LEVEL / self.level)


def effects_of(
    samples: Mapping[Place, Sample],
    cells: Sequence[PlannedCell],
    protocols: Mapping[Place, str],
    judging: Judging,
) -> list[PenaltyEffect]:
    """One for every planned cell of each family that was to have effects."""
    found = {
        cell: measured(samples[cell.place], samples.get(cell.plain) if cell.plain else None)
        for cell in cells
        if cell.place in samples
    }
    families: dict[tuple[str, str], list[PlannedCell]] = {}
    for cell in cells:
        families.setdefault((cell.regularizer, protocols[cell.place]), []).append(cell)
    judged: dict[PlannedCell, PenaltyEffect] = {}
    for (_, protocol), family in families.items():
        if not _has_effects(family, samples, found):
            continue
        drawn = [_Drawn.of(cell, samples, found.get(cell), judging) for cell in family]
        said = verdicts([one.finding for one in drawn], judging.level)
        for one, verdict in zip(drawn, said, strict=True):
            judged[one.cell] = _recorded(one, verdict, protocol, len(family), judging)
    return [judged[cell] for cell in cells if cell in judged]


def _has_effects(
    family: Sequence[PlannedCell],
    samples: Mapping[Place, Sample],
    found: Mapping[PlannedCell, Measured | None],
) -> bool:
    """Whether arms were planned; without them, whether all winners happen to tell an effect."""
    there = [cell for cell in family if cell in found]
    planned = any(samples[cell.place].study.planned.arms for cell in there)
    known = [found[cell] for cell in there]
    used = any(result is not None and not result.unused for result in known)
    return planned and any(known) or used and all(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A cell with what was measured, in the scope of its verdict."""

    cell: PlannedCell
    sample: Sample | None
    result: Measured | None
    scope: str
    effect: Effect | None
    """In that scope."""
    margin: float
    finding: Finding

    @staticmethod
    def of(
        cell: PlannedCell,
        samples: Mapping[Place, Sample],
        result: Measured | None,
        judging: Judging,
    ) -> "_Drawn":
        sample = samples.get(cell.place)
        by_nodes = judging.scope == NODES and result is not None and result.nodes is not None
        effect = None if result is None else result.nodes if by_nodes else result.effect
        is_error = sample is not None and sample.is_error
        # What a difference of errors means depends on their size.
        margin = judging.margin * (result.level if result is not None and is_error else 1.0)
        return _Drawn(
            cell=cell,
            sample=sample,
            result=result,
            scope=NODES if by_nodes else SPLITS,
            effect=effect,
            margin=margin,
            finding=_finding(result, effect, margin),
        )


def _finding(result: Measured | None, effect: Effect | None, margin: float) -> Finding:
    """What is known of a cell before its family is judged."""
    if result is None:
        return Finding(missing=True)
    if result.unused:
        return Finding(unused=True)
    sides = Sides(result.above, result.plain_above, result.collapsed)
    if effect is None or len(result.values) < ENOUGH_UNITS:
        return Finding(mean=result.mean, beats_floor=sides.beat_floor)
    found = finding_of(effect, result.values, margin, sides)
    # One half alone favours the penalty: its winner was chosen with it switched on.
    ahead = found.may_be_better and result.has_cross and not _is_below_plain(result)
    return replace(found, mean=result.mean, may_be_better=ahead)


def _is_below_plain(result: Measured) -> bool:
    """Whether the winner surely scores less than the plain one (95 % interval)."""
    ahead = result.on_plain
    return ahead is not None and ahead.mean + ahead.half_width() < 0


def _recorded(
    one: _Drawn, verdict: Verdict, protocol: str, family: int, judging: Judging
) -> PenaltyEffect:
    graph, condition, method = one.cell.place
    bare = PenaltyEffect(
        graph=graph,
        condition=condition,
        method=method,
        against=one.cell.plain[2] if one.cell.plain else "",
        regularizer=one.cell.regularizer,
        protocol=protocol,
        verdict=verdict.word,
        family=family,
        scope=one.scope,
        margin=one.margin,
    )
    result, effect = one.result, one.effect
    if result is None or one.sample is None:
        return replace(bare, reason="arms" if one.sample else "missing")
    whole = replace(
        bare,
        small=verdict.small,
        effect=result.mean,
        units=len(result.values),
        unit=one.sample.ground.unit,
        on_plain=_mean(result.on_plain),
        on_plain_half=_half(result.on_plain),
        above_floor=result.above,
        plain_above_floor=result.plain_above,
        collapsed=result.collapsed,
        finals=result.finals,
        configuration=result.configuration,
    )
    if result.unused:
        return replace(whole, half=0.0, error=0.0)
    needed, reason = _wanted(one, verdict, family, judging)
    return replace(
        whole,
        half=_half(result.effect),
        error=result.effect.error if result.effect else None,
        freedom=result.effect.freedom if result.effect else 0,
        kept=_mean(result.kept),
        kept_half=_half(result.kept),
        crossed=_mean(result.crossed) if result.has_cross else None,
        crossed_half=_half(result.crossed) if result.has_cross else None,
        nodes_half=_half(result.nodes),
        p=one.finding.p_difference if effect else None,
        p_holm=verdict.p_difference,
        p_equal=effect.p_equal(one.margin) if effect else None,
        p_equal_holm=verdict.p_equal,
        spread=_spread(result),
        detectable=effect.detectable(judging.tests(family)) if effect else None,
        needed=needed,
        reason=reason,
        balanced=_mean(result.balanced),
        balanced_half=_half(result.balanced),
        over_nl=_mean(result.over_nl),
        over_nl_half=_half(result.over_nl),
        over_any=_mean(result.over_any),
        over_any_half=_half(result.over_any),
        at_cap=_at_cap(one.sample, result.values),
    )


def _wanted(
    one: _Drawn, verdict: Verdict, family: int, judging: Judging
) -> tuple[int | None, str]:
    """How many finals would decide an undecided cell, or why no number of them is told."""
    result, word = one.result, verdict.word
    if word != "undecided" or result is None:
        return None, ""
    if verdict.p_difference < judging.level and not one.finding.no_spread:
        return None, _bar(result)
    units, spread = len(result.values), _spread(result)
    tests = judging.tests(family)
    needed = finals_to_decide(spread, one.margin, tests) if spread else units
    if units < ENOUGH_UNITS:
        return max(needed or 0, ENOUGH_UNITS), "finals"
    reason = _hindrance(one, result)
    if reason or needed is None:
        return None, reason or "many"
    if needed > units:
        return needed, ""
    hidden = one.scope == NODES and result.node_error * _endless(tests) > one.margin
    return None, "nodes" if hidden else "margin"


def _endless(tests: int) -> float:
    r"""How many errors fit the margin if finals are many: what ``finals_to_decide`` tends to.

    .. math:: \max(z_{\alpha} + z_{\beta / 2},\; z_{\alpha / 2} + z_{\beta})

    with :math:`\alpha` the level of Holm's first step and :math:`1 - \beta` the power.
    """
    level, missed = LEVEL / tests, 1 - POWER
    pairs = ((level, missed / 2), (level / 2, missed))
    return -min(float(special.ndtri(one) + special.ndtri(other)) for one, other in pairs)


def _bar(result: Measured) -> str:
    """Why an effect that differs from 0 may be called neither better nor worse."""
    above = result.above if result.mean > 0 else result.plain_above
    if above is None:
        return "unknown floor"
    if not above:
        return "floor"
    return "winner" if result.has_cross else "half"


def _hindrance(one: _Drawn, result: Measured) -> str:
    """Why more finals would not help; empty if they might."""
    ground = one.sample.ground if one.sample else None
    held = {
        "collapsed": result.collapsed > 0,
        "spread": one.effect is not None and not one.effect.error,
        "files": ground is not None and ground.unit == "file",
        # Nadeau and Bengio's error has a part that no final lowers.
        "nodes": ground is not None and ground.test_share > 0,
    }
    return next((reason for reason, holds in held.items() if holds), "")


def _at_cap(sample: Sample, values: Sequence[float]) -> bool:
    """Whether precision would have had more finals of this effect than were allowed."""
    stored, first = sample.study.planned.precision, sample.ground.first
    if stored is None or first is None or len(values) < first:
        return False
    rule = from_stored(Precision, stored)
    return finals_of_stein(values[:first], replace(rule, at_most=sys.maxsize)) > rule.at_most


def _spread(result: Measured) -> float | None:
    return float(np.std(result.values, ddof=1)) if len(result.values) > 1 else None


def _mean(effect: Effect | None) -> float | None:
    return None if effect is None else effect.mean


def _half(effect: Effect | None) -> float | None:
    return None if effect is None else effect.half_width()
