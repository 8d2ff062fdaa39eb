"""What each penalty does: its effect with both halves and scopes, over graphs, and backbones."""

from collections.abc import Callable
from dataclasses import dataclass

from clar_tune.analysis import Comparison, Contrast, OverGraphs, PenaltyEffect, ShiftPart
from clar_tune.report.blocks import PAGE, PRINT, SIGNS, Cell, Column, Table, mark_of
from clar_tune.report.builders.effects import COMPARE_HAS_ALL
from clar_tune.report.builders.fields import Field, count, number, table_of, text, words
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


def verdict_cell(verdict: str, *, small: bool = False, signed: bool = False) -> Cell:
    """A verdict, with its sign where colours are seen."""
    mark = mark_of(verdict)
    told = f"{'no result' if verdict == 'none' else verdict}{' (small)' * small}"
    return text(f"{SIGNS[mark]} {told}".strip() if signed else told, mark)


def _verdict(found: Cellular) -> Cell:
    effect = found.effect
    return Cell(effect.verdict, *_shown(effect, signed=False))


def _signed_verdict(found: Cellular) -> Cell:
    return Cell(found.effect.verdict, *_shown(found.effect, signed=True))


def _shown(effect: PenaltyEffect, *, signed: bool) -> tuple[str, str]:
    cell = verdict_cell(effect.verdict, small=effect.small, signed=signed)
    return cell.text, cell.mark


def _detectable(found: Cellular) -> Cell:
    value = found.effect.detectable
    beyond = value is not None and value > 1 and in_percent(found.metric)
    return Cell(value, "none" if beyond else size(value, found.metric))


def _collapsed(found: Cellular) -> Cell:
    effect = found.effect
    return Cell(
        effect.collapsed, f"{effect.collapsed}/{effect.finals}" if effect.collapsed else ""
    )


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
    *("balanced", lambda e: e.balanced, lambda e: e.balanced_half),
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
    unit = ", in points" if all(in_percent(c.metric) for c in _cells(comparison)) else ""
    title = f"Effect of the penalty{unit}: on less off, at the configurations this search found"
    return table_of(
        "effects-of-penalties", title, fields, _cells(comparison), 2, grouped=True, media=(PRINT,)
    )


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
        "At the configurations this search found, what switching the penalty on changes.",
        optional=(
            *("condition", "± nodes", "cross - plain", "on - plain", "balanced", "on - nl"),
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
        return number(title, lambda o: Cell(value(o), size(value(o), "accuracy")))

    fields: tuple[Field[OverGraphs], ...] = (
        words("method", lambda o: o.method),
        words("question", lambda o: "effect" if o.question == "effect" else "tuned gain"),
        count("graphs", lambda o: len(o.graphs)),
        number("mean", lambda o: Cell(o.mean, gain(o.mean, "accuracy"))),
        half("± these graphs", lambda o: o.these_half),
        half("± graphs like these", lambda o: o.like_these_half),
        half("± one more graph", lambda o: o.one_more_half),
        Field(Column("verdict"), lambda o: verdict_cell(o.verdict) if o.verdict else Cell()),
        words("left out", lambda o: ", ".join(o.left_out)),
    )
    title = "Over distinct graphs, in points"
    return table_of("over-graphs", title, fields, comparison.over_graphs, 2, media=(PRINT, PAGE))


def shift_part_table(parts: list[ShiftPart]) -> Table:
    """How much of each effect comes with the splits."""
    names = parts[0].protocols if parts else ("", "")

    def value(title: str, of: Callable[[ShiftPart], float]) -> Field[ShiftPart]:
        return number(title, lambda p: Cell(of(p), gain(of(p), "accuracy")))

    fields: tuple[Field[ShiftPart], ...] = (
        Field(Column("graph"), lambda p: Cell(p.graph, place(p.graph, p.condition))),
        words("method", lambda p: p.method),
        value(names[0] or "one", lambda p: p.one),
        value(names[1] or "other", lambda p: p.other),
        number(
            "difference",
            lambda p: Cell(
                p.difference, gain(p.difference, "accuracy"), half=size(p.half, "accuracy")
            ),
        ),
    )
    title = "The part of each effect that comes with the splits, in points"
    note = "Difference of the two effects with Welch's 95 % interval."
    return table_of("shift-part", title, fields, parts, 2, note, grouped=True)
