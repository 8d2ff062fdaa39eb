"""Figures of swept conditions: sweeps, pairs, learned responses, and errors as ratios."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
import vl_convert
from support.figure_files import SVG, as_cells, marks, parsed, points_of, texts
from support.sweep_runs import gridded, swept, whole_grid

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.filter_responses import responses
from clar_tune.report.figures import DARK, LIGHT, of_comparison, write_figures
from clar_tune.report.figures.charts import MOST_LINES
from clar_tune.report.figures.expected import expected_best, preferred_last
from clar_tune.report.figures.files import WIDTH, drawn
from clar_tune.report.figures.gains import gain_figures
from clar_tune.report.figures.places import by_place
from clar_tune.report.figures.sweeps import sweeps_of


def figures_of(run):
    return {figure.name: figure for figure in of_comparison(compare([run]), [run])}


@pytest.fixture(scope="module")
def depth():
    run = swept("depth")
    return run, compare([run]), figures_of(run)


@pytest.fixture(scope="module")
def frequency():
    run = swept("frequency")
    return run, compare([run]), figures_of(run)


@pytest.fixture(scope="module")
def filters():
    run = swept("filters")
    return run, compare([run]), figures_of(run)


@pytest.fixture(scope="module")
def grid():
    run = gridded(every=4)
    return run, compare([run]), figures_of(run)


def place(mark):
    """Where a symbol stands in an SVG."""
    found = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", mark.get("transform"))
    return float(found[1]), float(found[2])


def with_conditions(comparison, change):
    """The same scores in rows of other conditions."""
    return replace(
        comparison,
        rows=tuple(replace(r, condition=change(r.condition)) for r in comparison.rows),
        scores=tuple(replace(s, condition=change(s.condition)) for s in comparison.scores),
    )


def test_a_sweep_has_a_line_for_each_column_of_the_table(depth):
    _, comparison, figures = depth
    figure = figures["cora-layers-sweep"]
    assert list(dict.fromkeys(row["method"] for row in figure.rows)) == [
        *("gcn", "gcn+clar clamp=1", "gcn+clar clamp=10"),
        *("gcn+dropedge", "gcn+madreg", "mlp"),
    ]
    means = {(s.condition, s.method): s for s in comparison.scores}
    for row in figure.rows:
        score = means[f"layers={row['value']:g}", row["method"]]
        assert (row["mean"], row["high"] - row["mean"]) == (
            score.mean,
            pytest.approx(score.half_width),
        )
    assert sum(map(len, marks(figure, "line"))) == 6
    assert sum(map(len, marks(figure, "area"))) == 6
    assert [len(layer) for layer in marks(figure, "symbol")] == [36]


def test_depths_stand_at_equal_distances_with_a_tick_each(depth):
    _, _, figures = depth
    (points,) = marks(figures["cora-layers-sweep"], "symbol")
    places = sorted({round(place(mark)[0], 3) for mark in points})
    assert np.ptp(np.diff(places)) == pytest.approx(0, abs=0.01)
    assert {"2", "4", "8", "16", "32", "64"} <= set(texts(figures["cora-layers-sweep"]))


def test_lines_of_a_sweep_differ_in_colour_and_in_shape(depth):
    _, _, figures = depth
    (points,) = marks(figures["cora-layers-sweep"], "symbol")
    looks = {(mark.get("d"), mark.get("fill")) for mark in points}
    assert len(looks) == len({d for d, _ in looks}) == len({fill for _, fill in looks}) == 6


def test_the_text_of_a_sweep_says_where_each_line_begins_and_ends(depth):
    _, comparison, figures = depth
    ends = [
        next(s.mean for s in comparison.scores if (s.condition, s.method) == (at, "mlp"))
        for at in ("layers=2", "layers=64")
    ]
    text = figures["cora-layers-sweep"].text
    assert f"mlp {100 * ends[0]:.2f} % at 2 and {100 * ends[1]:.2f} % at 64" in text
    best = [
        max((s for s in comparison.scores if s.condition == row.condition), key=lambda s: s.mean)
        for row in comparison.rows
    ]
    deepest = max({s.method for s in best}, key=[s.method for s in best].count)
    count = [s.method for s in best].count(deepest)
    assert f"Best mean of 6 values: {deepest} at {count}" in text


def test_dropped_edges_stand_on_an_even_axis_that_begins_at_none():
    figures = figures_of(swept("robustness", graphs=("cora",)))
    figure = figures["cora-drop-edges-sweep"]
    assert {row["value"] for row in figure.rows} == {round(0.1 * n, 1) for n in range(10)}
    assert "gcn+clar scale=10" in texts(figure)
    (points,) = marks(figure, "symbol")
    places = sorted({round(place(mark)[0], 3) for mark in points})
    assert len(places) == 10 and np.ptp(np.diff(places)) == pytest.approx(0, abs=0.01)


def test_methods_without_the_condition_are_level_lines(frequency):
    _, comparison, figures = frequency
    figure = figures["chameleon-band-sweep"]
    levels = {row["method"]: row["mean"] for row in figure.rows if row["value"] is None}
    assert levels == {
        s.method: s.mean
        for s in comparison.scores
        if s.graph == "chameleon" and s.method in ("gpr", "cheby")
    }
    lines = [points_of(path) for layer in marks(figure, "line") for path in layer]
    assert sorted(map(len, lines)) == [2, 2, 10]
    assert all(line[0][1] == line[1][1] for line in lines if len(line) == 2)
    assert f"gpr {100 * levels['gpr']:.2f} %" in figure.text


def test_a_grid_of_numbers_is_no_sweep(grid):
    _, comparison, figures = grid
    assert {"alpha", "beta", "samples"} == set(re.findall(r"(\w+)=", comparison.rows[0].condition))
    assert not sweeps_of(comparison)
    assert "sweep" not in {figure.kind for figure in figures.values()}


def test_values_that_are_no_numbers_are_no_sweep(depth):
    _, comparison, _ = depth
    named = with_conditions(comparison, lambda text: text.replace("=64", "=null"))
    assert sweeps_of(named) == []


def test_what_else_a_condition_fixes_makes_figures_of_their_own(depth):
    run, comparison, _ = depth
    both = replace(
        comparison,
        rows=(
            *with_conditions(comparison, lambda text: f"filter=low-pass,{text}").rows,
            *with_conditions(comparison, lambda text: f"filter=high-pass,{text}").rows,
        ),
        scores=(
            *with_conditions(comparison, lambda text: f"filter=low-pass,{text}").scores,
            *with_conditions(comparison, lambda text: f"filter=high-pass,{text}").scores,
        ),
        contrasts=(),
    )
    names = [f.name for f in of_comparison(both, [run]) if f.kind == "sweep"]
    assert len(names) == len(set(names)) == 2
    assert {sweep.rest for sweep in sweeps_of(both)} == {"filter=low-pass", "filter=high-pass"}


def test_sweeps_of_errors_say_that_lower_is_better(depth):
    run, comparison, _ = depth
    rows = tuple(replace(r, metric="mse", protocol="whole-graph") for r in comparison.rows)
    figures = of_comparison(replace(comparison, rows=rows, contrasts=()), [run])
    figure = next(figure for figure in figures if figure.kind == "sweep")
    assert "Training MSE" in texts(figure) and "Lower is better." in figure.text
    assert "%" not in figure.text.replace("95 %", "")


def test_a_sweep_tells_spearmans_coefficient_and_the_papers():
    run = swept("sensitivity", graphs=("cora",))
    (gcn, *_) = compare([run]).correlations
    text = figures_of(run)["cora-samples-sweep"].text
    assert f"gcn+clar {gcn.coefficient:+.2f} ({gcn.low:+.2f} to {gcn.high:+.2f})" in text
    assert "in the paper -0.06" in text


def test_pairs_have_a_point_for_each_cell_and_the_coefficient(grid):
    _, comparison, figures = grid
    found = comparison.correlations[0]
    figure = figures["pairs-cora-gcn-clar-sampling-node-edge"]
    assert (found.graph, found.values) == ("cora", ("node", "edge"))
    (points,) = marks(figure, "symbol")
    assert len(points) == len(figure.rows) == found.pairs == 18
    (note,) = [text for text in texts(figure) if text.startswith("r = ")]
    assert note == (
        f"r = {found.coefficient:.3f} ({found.low:.3f} to {found.high:.3f}); paper 0.807"
    )
    assert f"over 18 cells is {found.coefficient:.3f}" in figure.text
    ((diagonal,),) = marks(figure, "rule")
    assert float(diagonal.get("x2")) > 0 > float(diagonal.get("y2"))
    above = [row["y"] > row["x"] for row in figure.rows]
    slope = float(diagonal.get("y2")) / float(diagonal.get("x2"))
    x, y = map(float, re.findall(r"[-\d.]+", diagonal.get("transform")))
    heights = [place(mark)[1] < y + slope * (place(mark)[0] - x) for mark in points]
    assert heights == above


def test_scores_that_do_not_vary_have_a_scatter_without_a_coefficient(grid):
    run, comparison, _ = grid
    none = replace(comparison.correlations[0], coefficient=None, low=None, high=None)
    figures = of_comparison(replace(comparison, correlations=(none,)), [run])
    figure = next(figure for figure in figures if figure.kind == "pairs")
    assert "no coefficient" in texts(figure) and "There is no coefficient" in figure.text


def test_learned_responses_are_those_of_the_finals(frequency):
    run, _, figures = frequency
    figure = figures["responses-chameleon"]
    lines = {}
    for row in figure.rows:
        lines.setdefault(row["line"], []).append(row)
    assert list(lines) == ["gpr", "cheby layer 1", "cheby layer 2"]
    (study,) = by_place([run])["chameleon", "", "gpr"]
    values = np.array([row["eigenvalue"] for row in lines["gpr"]])
    own = [responses(f.facts, values)["filter"] for f in study.finals]
    assert values[0] == 0 and values[-1] == 2
    for name, expected in (("mean", np.mean), ("low", np.min), ("high", np.max)):
        assert [row[name] for row in lines["gpr"]] == pytest.approx(expected(own, axis=0))
    assert {row["finals"] for row in figure.rows} == {6}
    assert sum(map(len, marks(figure, "line"))) == sum(map(len, marks(figure, "area"))) == 3
    assert "gpr 1.00 at 0" in figure.text


def test_methods_without_a_learned_filter_have_no_responses(depth):
    assert "responses" not in {figure.kind for figure in depth[2].values()}


def test_errors_are_compared_by_their_ratio(filters):
    _, comparison, figures = filters
    figure = figures["ratios"]
    assert "gains" not in figures
    contrast = comparison.contrasts[0]
    row = figure.rows[0]
    assert row["ratio"] == contrast.ratio and row["paper_ratio"] == contrast.paper_ratio
    plain = comparison.score(comparison.rows[0], contrast.against).mean
    assert row["ratio_high"] - row["ratio"] == pytest.approx(contrast.half_width / plain)
    written = " ".join([figure.title, figure.text, *texts(figure)])
    assert "point" not in written and "%" not in written.replace("95 %", "")
    largest = max(figure.rows, key=lambda row: row["ratio"])
    assert f"{largest['method']} on" in written and f"{largest['ratio']:.4f} (" in written


def test_while_finals_are_missing_the_figure_shows_the_interval_of_the_table():
    run = swept("filters")
    shorter = [
        replace(study, finals=study.finals[:-2]) if "clar" not in study.method else study
        for study in run.studies
    ]
    comparison = compare([replace(run, studies=tuple(shorter))])
    (figure,) = (figure for figure in gain_figures(comparison) if figure.name == "ratios")
    for contrast in comparison.contrasts:
        row = next(
            row
            for row in figure.rows
            if (row["graph"], row["condition"], row["method"])
            == (contrast.graph, contrast.condition, contrast.method)
        )
        assert row["ratio_high"] - row["ratio"] == pytest.approx(contrast.ratio_half_width)


def reference(figure):
    """Where the dashed line of a figure of gains stands."""
    (_, (line,), _) = marks(figure, "rule")
    return float(re.match(r"translate\(([-\d.]+)", line.get("transform"))[1])


def test_better_errors_stand_left_of_one_and_point_there(filters):
    _, comparison, figures = filters
    figure = figures["ratios"]
    off = {(s.graph, s.condition, s.method) for s in comparison.scores if s.weightless}
    for row in figure.rows:
        at = row["graph"], row["condition"], row["method"]
        assert row["verdict"] == ("unused" if at in off else "better")
    figure = replace(figure, rows=tuple(r for r in figure.rows if r["verdict"] == "better"))
    assert figure.rows
    turned = ({**row, "ratio": 2 - row["ratio"], "verdict": "worse"} for row in figure.rows)
    other = replace(figure, rows=tuple(turned))
    better, worse = (marks(each, "symbol")[1] for each in (figure, other))
    assert max(place(mark)[0] for mark in better) < reference(figure)
    assert min(place(mark)[0] for mark in worse) > reference(other)
    assert {mark.get("d") for mark in better}.isdisjoint(mark.get("d") for mark in worse)


def test_expected_lines_are_means_over_the_conditions(depth):
    run, _, figures = depth
    own = [study for study in run.studies if study.method == "mlp"]
    rows = [row for row in figures["expected-cora"].rows if row["method"] == "mlp"]
    assert [row["trials"] for row in rows] == [1, 2, 3] and rows[0]["conditions"] == 6
    for row in rows:
        each = [
            expected_best(preferred_last(study.trials, "accuracy"), row["trials"]) for study in own
        ]
        assert row["expected"] == pytest.approx(fmean(each))
    lines = {row["method"] for row in figures["expected-cora"].rows}
    assert {"gcn+clar clamp=1", "gcn+clar clamp=10"} <= lines
    assert "mean over the conditions" in figures["expected-cora"].text


def test_penalties_and_budgets_go_by_column(depth):
    run, _, figures = depth
    columns = {"gcn+clar clamp=1", "gcn+clar clamp=10"}
    assert columns <= {row["method"] for row in figures["penalty"].rows}
    own = [s for s in run.studies if "clamp=10" in s.condition]
    (search,) = [
        row
        for row in figures["budget"].rows
        if (row["method"], row["part"]) == ("gcn+clar clamp=10", "search")
    ]
    assert search["studies"] == len(own) == 6
    assert search["trainings"] == sum(study.repeats for study in own)


def test_a_wall_of_lines_is_cut_and_the_filter_brings_up_the_rest():
    run = whole_grid()
    (figure,) = [f for f in of_comparison(compare([run]), [run]) if f.kind == "penalty"]
    assert len(figure.rows) > 1900
    assert f"the first {MOST_LINES} of {len(figure.rows):,} lines" in figure.text
    assert len(marks(figure, "rect")[0]) == MOST_LINES
    assert not any("squirrel" in text for text in texts(figure))
    some = tuple(row for row in figure.rows if row["graph"] == "squirrel")
    assert any("squirrel" in text for text in texts(replace(figure, rows=some)))


def test_one_final_has_no_band():
    run = swept("robustness", graphs=("cora",), finals=1)
    figure = figures_of(run)["cora-drop-edges-sweep"]
    assert {row["low"] for row in figure.rows} == {None}
    areas, lines = (
        [set(points_of(path)) for layer in marks(figure, kind) for path in layer]
        for kind in ("area", "line")
    )
    assert len(lines) == 3 and areas == lines


def test_a_sweep_under_way_shows_what_there_is(depth):
    run, _, _ = depth
    seen = []
    for count in (1, 2, 9, 20):
        part = replace(run, studies=run.studies[:count])
        for figure in figures_of(part).values():
            assert figure.rows and ET.fromstring(drawn(figure)).findall(f".//{SVG}path")
            seen.append(figure.kind)
    assert "sweep" in seen


def test_every_figure_is_drawn_in_both_themes_without_a_warning(
    depth, frequency, filters, grid, capfd
):
    for run in (depth, frequency, filters, grid):
        for figure in run[2].values():
            if figure.kind not in ("sweep", "pairs", "responses", "gains"):
                continue
            assert figure.spec["data"] == {"name": "rows"} and "config" not in figure.spec
            json.dumps(figure.rows, allow_nan=False)
            spec = {**figure.spec, "width": WIDTH, "datasets": {"rows": list(figure.rows)}}
            for theme in (LIGHT, DARK):
                svg = vl_convert.vegalite_to_svg(spec, config=theme, show_warnings=True)
                assert len(ET.fromstring(svg).findall(f".//{SVG}path")) > 3, figure.name
    assert "WARN" not in "".join(capfd.readouterr())


def test_files_are_written_with_their_data(tmp_path, depth, frequency, grid):
    names = ("cora-layers-sweep", "responses-citeseer", "pairs-cora-gcn-clar-sampling-node-any")
    figures = [run[2][name] for run, name in zip((depth, frequency, grid), names, strict=True)]
    files = {file.name for file in write_figures(figures, tmp_path)}
    for figure in figures:
        assert {f"{figure.name}.{kind}" for kind in ("svg", "png", "csv")} <= files
        assert parsed(tmp_path / f"{figure.name}.csv") == as_cells(figure.rows)
