"""Average ranks as a critical-difference diagram."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import altair as alt

from clar_tune.analysis import Comparison
from clar_tune.report.blocks import Figure
from clar_tune.report.builders.methods import out_of_reach
from clar_tune.report.figures.charts import ROWS, spec_of
from clar_tune.report.figures.names import short

BAR, STEP = 10, 22
"""Heights in pixels: from bar to bar, from label to label."""


def rank_figure(comparison: Comparison) -> Figure | None:
    """Ranks over distinct graphs, joined by bars where a test finds no difference."""
    across = comparison.across
    ranks = dict(zip(across.methods, across.ranks, strict=True))
    if not ranks:
        ranks = {s.method: s.rank for s in comparison.standings if s.rank is not None}
    if len(ranks) < 2:
        return None
    rows = _rows(ranks, across.cliques)
    return Figure(
        name="ranks",
        kind="ranks",
        title="Average ranks",
        text=_text(comparison, rows),
        rows=rows,
        spec=_spec(rows, len(across.cliques)),
    )


def _rows(ranks: dict[str, float], cliques: Sequence[Sequence[str]]) -> tuple[dict[str, Any], ...]:
    """One row per method, best first; the letters say which bars it belongs to."""
    ordered = sorted(ranks, key=lambda method: ranks[method])
    left = (len(ordered) + 1) // 2
    rows = []
    for place, method in enumerate(ordered):
        bars = [_letter(bar) for bar, clique in enumerate(cliques) if method in clique]
        rows.append(
            {
                "method": method,
                "label": short(method, 40),
                "rank": ranks[method],
                "bars": " ".join(bars),
                "side": "left" if place < left else "right",
                "level": place if place < left else len(ordered) - 1 - place,
            }
        )
    return tuple(rows)


def _letter(bar: int) -> str:
    return ascii_lowercase[bar] if bar < len(ascii_lowercase) else f"bar{bar}"


def _spec(rows: Sequence[dict[str, Any]], bars: int) -> dict[str, Any]:
    """Stems hang from the axis; each turns to its label, left or right of the axis."""
    longest = max(len(short(row["method"], 24)) for row in rows) + 5
    margin = f"min({min(7 * longest, 190)}, 0.34 * width)"
    top = 8 + BAR * bars
    height = top + STEP * ((len(rows) + 1) // 2)
    rank = alt.Scale(
        domain=[1, max(2, len(rows))],
        range=[{"expr": margin}, {"expr": f"width - {margin}"}],
        zero=False,
        nice=False,
    )
    axis = alt.Axis(orient="top", title="Average rank (1 is best)", grid=False, tickMinStep=1)
    depth: dict[str, Any] = {
        "axis": None,
        "scale": alt.Scale(domain=[0, height], range=[0, height], nice=False),
    }
    x, y = alt.X("rank:Q", scale=rank, axis=axis), alt.Y("depth:Q", **depth)
    stem = alt.Chart().mark_rule(style="stem").encode(x=x, y=y, y2=alt.Y2Datum(0))
    layers = [stem]
    outside: dict[str, dict[str, Any]] = {
        "left": {"align": "right", "dx": -5},
        "right": {"align": "left", "dx": 5},
    }
    for side, edge in (("left", margin), ("right", f"width - {margin}")):
        own = alt.Chart().transform_filter(f"datum.side == '{side}'").encode(y=y)
        label = own.mark_text(style="note", limit=alt.ExprRef(margin), **outside[side])
        end = alt.value({"expr": edge})
        layers += [
            own.mark_rule(style="stem").encode(x=x, x2=end),
            label.encode(x=end, text="named:N", tooltip=_tooltip()),
        ]
    if bars:
        layers.append(_bars(alt.X("first:Q", scale=rank, axis=axis), y))
    chart = alt.layer(*layers, data=ROWS).transform_calculate(
        depth=f"{top} + {STEP} * (datum.level + 0.5)",
        named="datum.label + '  ' + format(datum.rank, '.2f')",
    )
    return spec_of(chart, height)


def _bars(x: alt.X, y: alt.Y) -> alt.Chart:
    """One thick bar per letter, from the best to the worst of its methods."""
    chart: alt.Chart = (
        alt.Chart()
        .transform_calculate(bar="split(datum.bars, ' ')")
        .transform_flatten(["bar"])
        .transform_filter("datum.bar")
        .transform_aggregate(first="min(rank)", last="max(rank)", groupby=["bar"])
        .transform_window(nth="row_number()", sort=[alt.SortField("bar")])
        .transform_calculate(depth=f"{BAR} * datum.nth")
        .mark_rule(style="clique")
        .encode(x=x, x2="last:Q", y=y)
    )
    return chart


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("method:N", title="Method"),
        alt.Tooltip("rank:Q", title="Average rank", format=".2f"),
    ]


def _text(comparison: Comparison, rows: Sequence[dict[str, Any]]) -> str:
    across = comparison.across
    order = ", ".join(f"{short(row['method'], 40)} {row['rank']:.2f}" for row in rows)
    over = f"{len(across.graphs)} distinct graphs" if across.methods else "the rows of the table"
    text = f"Average rank of each method over {over}; 1 is best. {order}. "
    if across.reason:
        return f"{text}No bars, because there is no test across graphs: {across.reason}"
    test = "" if across.friedman is None else f" Friedman's test: p = {across.friedman:.2g}."
    note = out_of_reach(across.pairs, len(across.graphs))
    if note:
        return f"{text}One bar joins all of them. {note}{test}"
    joined = "; ".join(", ".join(short(m, 40) for m in clique) for clique in across.cliques)
    if not joined:
        return f"{text}Every pair differs (Wilcoxon, corrected by Holm).{test}"
    return (
        f"{text}A bar joins methods that Wilcoxon's test with Holm's correction does not tell "
        f"apart: {joined}.{test}"
    )
