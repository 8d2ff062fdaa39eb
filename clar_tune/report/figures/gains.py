"""The paired gains over the plain backbone and over rivals; of errors, the ratios."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clar_tune.analysis import Comparison, Contrast, PenaltyEffect, counted
from clar_tune.metric import metric_named
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.charts import excerpt_note
from clar_tune.report.figures.gain_chart import NO_VERDICT, Measure, edge_of, gain_spec
from clar_tune.report.figures.names import place_name, short
from clar_tune.report.figures.units import Unit, unit_of


def gain_figures(comparison: Comparison) -> Iterator[Figure]:
    """Gains over the plain backbone, and those of clar over its rivals, where there are any."""
    metrics = {(row.graph, row.condition): row.metric for row in comparison.rows}
    for rival in (False, True):
        ordered = _ordered(comparison, rival=rival)
        for errors in (False, True):
            own = [
                contrast
                for contrast in ordered
                if metric_named(metrics[contrast.graph, contrast.condition]).percent != errors
            ]
            if own:
                unit = unit_of(metrics[c.graph, c.condition] for c in own)
                yield _figure(comparison, own, unit, rival=rival)


def _figure(
    comparison: Comparison, contrasts: Sequence[Contrast], unit: Unit, *, rival: bool
) -> Figure:
    effects = {} if rival else {(e.graph, e.condition, e.method): e for e in comparison.effects}
    rows = tuple(
        {
            **_row(line, found),
            **_effect(effects.get((found.graph, found.condition, found.method))),
            **(_ratios(found) if unit.lower_is_better else {}),
        }
        for line, found in enumerate(contrasts)
    )
    name, title, measure = _names(unit, rival=rival, effects=bool(effects))
    return Figure(
        name=name,
        kind="gains",
        title=title,
        text=_text(rows, measure, rival=rival) + excerpt_note(rows),
        rows=rows,
        spec=gain_spec(rows, measure),
    )


def _names(unit: Unit, *, rival: bool, effects: bool) -> tuple[str, str, Measure]:
    """File, title, and what is measured."""
    if unit.lower_is_better:
        title = f"{unit.name} relative to {'rivals of clar' if rival else 'the plain backbone'}"
        measure = Measure(f"{title} (below 1 is better)", unit)
        return f"ratios{'-rivals' if rival else ''}", title, measure
    if rival:
        title = "Gains of clar over other regularizers"
        return "rivals", title, Measure("Gain (points)", unit)
    if effects:
        return "gains", "Effects of penalties", Measure("Effect of the penalty (points)", unit)
    title = "Gains over the plain backbone"
    return "gains", title, Measure("Gain over the plain backbone (points)", unit)


def _ordered(comparison: Comparison, *, rival: bool) -> list[Contrast]:
    """In the order of the table: rows, then methods."""
    places = {(row.graph, row.condition): at for at, row in enumerate(comparison.rows)}
    return sorted(
        (contrast for contrast in comparison.contrasts if contrast.rival == rival),
        key=lambda contrast: (
            places[contrast.graph, contrast.condition],
            comparison.methods.index(contrast.method),
            comparison.methods.index(contrast.against),
        ),
    )


def _row(line: int, contrast: Contrast) -> dict[str, Any]:
    name = contrast.method + (f" over {contrast.against}" if contrast.rival else "")
    half = contrast.half_width
    return {
        "line": line,
        "graph": contrast.graph,
        "condition": contrast.condition,
        "method": contrast.method,
        "against": contrast.against,
        "label": short(name),
        "gain": contrast.gain,
        "low": None if half is None else contrast.gain - half,
        "high": None if half is None else contrast.gain + half,
        "units": contrast.units,
        "p": contrast.p,
        "p_holm": contrast.p_holm,
        "verdict": NO_VERDICT if contrast.verdict == "none" else contrast.verdict,
        "detectable": contrast.detectable,
        "paper_gain": contrast.paper_gain,
    }


def _effect(effect: PenaltyEffect | None) -> dict[str, Any]:
    """What the penalty does in place of the gain between winners, where arms tell it."""
    if effect is None or effect.effect is None:
        return {}
    half = effect.half
    return {
        "gain": effect.effect,
        "low": None if half is None else effect.effect - half,
        "high": None if half is None else effect.effect + half,
        "units": effect.units,
        "p": effect.p,
        "p_holm": effect.p_holm,
        "verdict": effect.verdict,
        "detectable": effect.detectable,
    }


def _ratios(contrast: Contrast) -> dict[str, Any]:
    """The ratio of errors with its interval, as the table has it."""
    ratio, half = contrast.ratio, contrast.ratio_half_width
    return {
        "ratio": ratio,
        "ratio_low": None if ratio is None or half is None else ratio - half,
        "ratio_high": None if ratio is None or half is None else ratio + half,
        "paper_ratio": contrast.paper_ratio,
    }


def _text(rows: Sequence[Mapping[str, Any]], measure: Measure, *, rival: bool) -> str:
    verdicts = [row["verdict"] for row in rows]
    counts = ", ".join(
        f"{verdicts.count(verdict)} {name}"
        for verdict, name in (
            *(("better", "better"), ("worse", "worse"), ("equal", "equal")),
            *(("undecided", "undecided"), ("unused", "unused")),
            *(("at the floor", "at the floor"), (NO_VERDICT, "without a verdict")),
        )
        if verdict in verdicts
    )
    against = "another regularizer" if rival else "its plain backbone"
    if measure.title.startswith("Effect"):
        against = "the same configurations without its penalty"
    if measure.of_errors:
        what = (
            f"{measure.unit.name} of each method as a part of that of {against} on the same "
            "finals, with the 95 % interval of the paired difference as a part of the same; left"
        )
    else:
        cut = "" if edge_of(rows) is None else " (an arrow: it goes on beyond the axis)"
        what = (
            f"Paired gain of each method over {against} on the same finals, with its 95 % "
            f"interval{cut}; right"
        )
    return (
        f"{what} of the dashed line is better. {counted(len(rows), 'comparison')}: {counts} (p "
        f"corrected by Holm, intervals not).{_extremes(rows, measure, rival=rival)}"
    )


def _extremes(rows: Sequence[Mapping[str, Any]], measure: Measure, *, rival: bool) -> str:
    """The largest and the smallest value, and how many the paper has."""
    value, _, _, paper = measure.fields
    known = sorted((row for row in rows if row[value] is not None), key=lambda row: row[value])
    if not known:
        return ""
    most, least = (_named(row, measure, rival=rival) for row in (known[-1], known[0]))
    printed = sum(row[paper] is not None for row in rows)
    told = f" Diamonds: the {value}s that the paper prints ({printed})." if printed else ""
    return f" Largest: {most}. Smallest: {least}.{told}"


def _named(row: Mapping[str, Any], measure: Measure, *, rival: bool) -> str:
    value, low, high, _ = (row[name] for name in measure.fields)
    over = f" over {short(row['against'])}" if rival else ""
    interval = "" if low is None else f" ({measure.prose(low)} to {measure.prose(high)})"
    place = place_name(row["graph"], row["condition"])
    return f"{short(row['method'])}{over} on {place}, {measure.prose(value)}{interval}"
