"""What each penalty does: its effect with both halves and scopes, over graphs, and backbones."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clar_tune.analysis import (
    Comparison,
    Contrast,
    OverGraphs,
    PenaltyEffect,
    ShiftPart,
    margin_of,
    switched,
)
from clar_tune.report.blocks import PAGE, PRINT, SIGNS, Cell, Column, Table, mark_of
from clar_tune.report.builders.effects import COMPARE_HAS_ALL
from clar_tune.report.builders.fields import Field, count, number, table_of, text, words
from clar_tune.report.builders.notes import AT_FLOOR
from clar_tune.report.numbers import gain, in_percent, p_value, size
from clar_tune.report.texts import place


@dataclass(frozen=True, slots=True)
class Cellular:
    """An effect, and what its row is judged by."""

    effect: PenaltyEffect
    metric: str


Value = Callable[[PenaltyEffect], float | None]


def _difference(title: str, value: Value, half: Value, help: str) -> Field[Cellular]:
    def cell(found: Cellular) -> Cell:
        mean, width = value(found.effect), half(found.effect)
        if mean is None:
            return Cell()
        return Cell(mean, gain(mean, found.metric), half=size(width, found.metric))

    return number(title, cell, help)


def _size(title: str, value: Value, help: str) -> Field[Cellular]:
    return number(title, lambda c: Cell(value(c.effect), size(value(c.effect), c.metric)), help)


def _p(title: str, value: Value, help: str) -> Field[Cellular]:
    return number(title, lambda c: Cell(value(c.effect), p_value(value(c.effect))), help)


def verdict_cell(verdict: str, added: str = "", *, signed: bool = False) -> Cell:
    """A verdict and what is added to it, with its sign where colours are seen."""
    mark = mark_of(verdict)
    told = f"{'no result' if verdict == 'none' else verdict} {added}".strip()
    return text(f"{SIGNS[mark]} {told}".strip() if signed else told, mark)


def _verdict(found: Cellular) -> Cell:
    effect = found.effect
    return Cell(effect.verdict, *_shown(found, signed=False))


def _signed_verdict(found: Cellular) -> Cell:
    return Cell(found.effect.verdict, *_shown(found, signed=True))


def _shown(found: Cellular, *, signed: bool) -> tuple[str, str]:
    effect, added = found.effect, ""
    if effect.small:
        limit = margin_of(effect.margin) if in_percent(found.metric) else "margin"
        added = f"(< {limit})"
    elif effect.is_identical:
        added = "(identical finals)"
    cell = verdict_cell(effect.verdict, added, signed=signed)
    return cell.text, cell.mark


def _detectable(found: Cellular) -> Cell:
    value = found.effect.detectable
    beyond = value is not None and value > 1 and in_percent(found.metric)
    return Cell(value, "none" if beyond else size(value, found.metric))


def _collapsed(found: Cellular) -> Cell:
    """Of how many arms with J finals each: ``2 of 4 × 20``."""
    effect = found.effect
    if not effect.collapsed:
        return Cell(effect.collapsed)
    arms, rest = divmod(effect.finals, effect.units)
    of = f"{effect.finals}" if rest else f"{arms} × {effect.units}"
    return Cell(effect.collapsed, f"{effect.collapsed} of {of}")


PLACE: Field[Cellular] = Field(
    Column("graph"), lambda c: Cell(c.effect.graph, place(c.effect.graph, c.effect.condition))
)
GRAPH: Field[Cellular] = words("graph", lambda c: c.effect.graph)
CONDITION: Field[Cellular] = words("condition", lambda c: c.effect.condition)
METHOD: Field[Cellular] = words("method", lambda c: c.effect.method)
EFFECT = _difference(
    *("effect", lambda e: e.effect, lambda e: e.half),
    "What switching the penalty on changes; this graph, new splits",
)
NODES = _size("± nodes", lambda e: e.nodes_half, "The same with these nodes as a sample")
KEPT = _difference(
    *("on - off", lambda e: e.kept, lambda e: e.kept_half),
    "At the regularized winner's shared parameters",
)
CROSSED = _difference(
    *("cross - plain", lambda e: e.crossed, lambda e: e.crossed_half),
    "At the plain winner's shared parameters",
)
ON_PLAIN = _difference(
    *("on - plain", lambda e: e.on_plain, lambda e: e.on_plain_half),
    "The winners side by side",
)
BALANCED = _difference(
    *("balanced acc.", lambda e: e.balanced, lambda e: e.balanced_half),
    "The effect on balanced accuracy",
)
OVER_NL = _difference(
    *("on - nl", lambda e: e.over_nl, lambda e: e.over_nl_half),
    "What the term of the complement adds",
)
OVER_ANY = _difference(
    *("on - any", lambda e: e.over_any, lambda e: e.over_any_half),
    "What pairs of the complement do beyond pairs of any nodes",
)
VERDICT: Field[Cellular] = Field(Column("verdict"), _verdict)
SIGNED_VERDICT: Field[Cellular] = Field(Column("verdict"), _signed_verdict)
UNITS: Field[Cellular] = count("J", lambda c: c.effect.units or None, "Units, of splits mostly")
COLLAPSED: Field[Cellular] = number(
    "collapsed", _collapsed, "Finals of its arms 25 points below their median"
)
DETECTABLE: Field[Cellular] = number(
    "detectable", _detectable, "True effect found with probability 0.8 at Holm's first step"
)
NEEDED: Field[Cellular] = count(
    "needed", lambda c: c.effect.needed, "Finals that would decide it, about"
)
P_DIFFERENCE = _p("p_holm", lambda e: e.p_holm, "Of a difference, corrected by Holm")
P_EQUAL = _p("p_equal", lambda e: e.p_equal_holm, "Of equality, corrected by Holm")


def _cells(comparison: Comparison) -> list[Cellular]:
    metrics = {(row.graph, row.condition): row.metric for row in comparison.rows}
    return [
        Cellular(effect, metrics.get((effect.graph, effect.condition), "accuracy"))
        for effect in comparison.effects
    ]


def effects_table(comparison: Comparison) -> Table:
    """The effect of every penalty, in few columns."""
    fields = (
        *(PLACE, METHOD, EFFECT, NODES, VERDICT, KEPT, CROSSED),
        *((BALANCED,) if any(row.is_shifted for row in comparison.rows) else ()),
        *(OVER_NL, OVER_ANY, UNITS, COLLAPSED, NEEDED),
    )
    unit = _unit(cell.metric for cell in _cells(comparison))
    halves = _halves(comparison.effects)
    of = f"Effect of the {switched(comparison.effects)}{unit}{f': {halves}' * bool(halves)}"
    title = f"{of}, at {_configurations(comparison)}"
    return table_of(
        "effects-of-penalties", title, fields, _cells(comparison), 2, grouped=True, media=(PRINT,)
    )


def _halves(effects: Sequence[PenaltyEffect]) -> str:
    """What an effect is the mean of; nothing where none is measured."""
    whole = any(effect.crossed is not None for effect in effects)
    alone = any(effect.is_half for effect in effects)
    both = ("mean of on - off and cross - plain", "on - off alone")
    return ", or ".join(half for half, there in zip(both, (whole, alone), strict=True) if there)


def _configurations(comparison: Comparison) -> str:
    searched = comparison.is_searched
    return "the configurations this search found" if searched else "these configurations"


def effects_page_table(comparison: Comparison) -> Table:
    """The same with all columns."""
    return table_of(
        *("effects", "Effect of each penalty"),
        (
            *(GRAPH, CONDITION, METHOD, EFFECT, NODES, SIGNED_VERDICT, KEPT, CROSSED, ON_PLAIN),
            *(BALANCED, OVER_NL, OVER_ANY, UNITS, COLLAPSED, P_DIFFERENCE, P_EQUAL, DETECTABLE),
            NEEDED,
        ),
        *(_cells(comparison), 3),
        f"At {_configurations(comparison)}, what switching the {switched(comparison.effects)} on "
        "changes.",
        optional=(
            *("condition", "± nodes", "cross - plain", "on - plain", "balanced acc.", "on - nl"),
            *("on - any", "collapsed", "needed", "detectable"),
        ),
        all_in=COMPARE_HAS_ALL,
        media=(PAGE,),
    )


def backbones_table(comparison: Comparison) -> Table:
    """Plain winners against the baseline: a description, with one search."""
    metrics = {(row.graph, row.condition): row.metric for row in comparison.rows}

    def cell(found: Contrast) -> Cell:
        metric = metrics[found.graph, found.condition]
        return Cell(found.gain, gain(found.gain, metric), half=size(found.half_width, metric))

    fields: tuple[Field[Contrast], ...] = (
        Field(Column("graph"), lambda c: Cell(c.graph, place(c.graph, c.condition))),
        words("method", lambda c: c.method),
        words("against", lambda c: c.against),
        number("gain", cell),
        Field(
            Column("verdict"),
            lambda c: Cell() if c.verdict == "none" else verdict_cell(c.verdict),
        ),
        count("pairs", lambda c: c.units),
    )
    title = f"Backbones against {comparison.baseline}, winners side by side"
    found = comparison.backbones
    return table_of("backbones", title, fields, found, 2, grouped=True, media=(PRINT, PAGE))


def over_graphs_table(comparison: Comparison) -> Table:
    """The mean of each method's effects over distinct graphs, with three intervals."""

    def half(title: str, value: Callable[[OverGraphs], float | None]) -> Field[OverGraphs]:
        return number(title, lambda o: Cell(value(o), size(value(o), o.metric)))

    fields: tuple[Field[OverGraphs], ...] = (
        words("method", lambda o: o.method),
        words("question", lambda o: "effect" if o.question == "effect" else "tuned gain"),
        count("graphs", lambda o: len(o.graphs)),
        number("mean", lambda o: Cell(o.mean, gain(o.mean, o.metric))),
        half("± these graphs", lambda o: o.these_half),
        half("± graphs like these", lambda o: o.like_these_half),
        half("± one more graph", lambda o: o.one_more_half),
        Field(Column("verdict"), lambda o: verdict_cell(o.verdict) if o.verdict else Cell()),
        words("left out", lambda o: ", ".join(o.left_out)),
    )
    found = comparison.over_graphs
    title = f"Over distinct graphs{_unit(over.metric for over in found)}"
    return table_of("over-graphs", title, fields, found, 2, media=(PRINT, PAGE))


def _unit(metrics: Iterable[str]) -> str:
    return ", in points" if all(map(in_percent, metrics)) else ""


def shift_title(parts: Sequence[ShiftPart]) -> str:
    """With the same configurations only splits differ."""
    if all(part.same for part in parts):
        return "Effects of the same configurations under both protocols"
    return "Effects under both protocols (configurations differ too)"


def shift_part_table(parts: list[ShiftPart]) -> Table:
    """How far effects differ between two runs; what is at the floor is marked."""
    names = parts[0].protocols if parts else ("", "")

    def value(title: str, of: Callable[[ShiftPart], float], side: int) -> Field[ShiftPart]:
        def cell(part: ShiftPart) -> Cell:
            floor = AT_FLOOR * (part.verdicts[side] == "at the floor")
            return Cell(of(part), gain(of(part), part.metric) + floor)

        return number(title, cell)

    fields: tuple[Field[ShiftPart], ...] = (
        Field(Column("graph"), lambda p: Cell(p.graph, place(p.graph, p.condition))),
        words("method", lambda p: p.method),
        value(names[0] or "one", lambda p: p.one, 0),
        value(names[1] or "other", lambda p: p.other, 1),
        number(
            "difference",
            lambda p: Cell(
                p.difference, gain(p.difference, p.metric), half=size(p.half, p.metric)
            ),
        ),
    )
    title = f"{shift_title(parts)}{_unit(part.metric for part in parts)}"
    note = (
        "Difference: the first less the second, with Welch's 95 % interval. Only cells with the "
        f"{switched(parts)} in use in both runs."
    )
    if any("at the floor" in part.verdicts for part in parts):
        note += f" {AT_FLOOR} at the floor: no side of that effect beats a constant answer."
    shown = (PRINT, PAGE)
    return table_of("shift-part", title, fields, parts, 2, note, grouped=True, media=shown)
