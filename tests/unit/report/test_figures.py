"""Figures: their data and their words, and that each of them can be drawn."""

import json
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import pytest
from support.figure_files import SVG, as_cells, marks, parsed, points_of, texts
from support.results import SPACE, finished, replanned
from support.simulation import Memory, plan_from, scheduler_for, work

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.records import Across
from clar_tune.analysis.runs import RunView, studies_of
from clar_tune.errors import StoreError
from clar_tune.records import to_stored
from clar_tune.report.figures import (
    DARK,
    LIGHT,
    of_comparison,
    of_study,
    vega_script,
    write_figures,
)
from clar_tune.report.figures.against_paper import paper_figure
from clar_tune.report.figures.axes import axes_of
from clar_tune.report.figures.expected import expected_best, preferred_last
from clar_tune.report.figures.files import WIDTH, drawn
from clar_tune.report.figures.gain_chart import edge_of
from clar_tune.report.figures.gains import gain_figures
from clar_tune.report.figures.names import file_stem
from clar_tune.report.figures.theme import BLUE, GREY, ORANGE, PURPLE
from clar_tune.report.figures.trials import rungs_of, trials_of
from clar_tune.search.manifest import manifest_of

HOSTILE = "</script><script>alert(1)</script>\"'[bold]\n% & 😀" + "x" * 10_000


@pytest.fixture(scope="module")
def run():
    return finished()


@pytest.fixture(scope="module")
def comparison(run):
    return compare([run])


@pytest.fixture(scope="module")
def overall(run, comparison):
    return {figure.name: figure for figure in of_comparison(comparison, [run])}


@pytest.fixture(scope="module")
def study(run):
    return next(s for s in run.studies if (s.graph, s.method) == ("texas", "gcn+clar"))


@pytest.fixture(scope="module")
def searched(study):
    return {f.kind: f for f in of_study(study, {"lr": 0.6, "alpha": 0.3, "beta": 0.1})}


def test_a_report_has_every_figure_once(overall, searched):
    assert list(overall) == [
        *("gains", "rivals", "ranks", "paper"),
        *("expected-chameleon", "expected-cornell", "expected-texas", "penalty", "budget"),
    ]
    assert list(searched) == ["history", "rungs", "importance", "parallel", "map"]
    assert searched["history"].name == "texas-gcn-clar-history"


def test_specs_are_small_and_leave_data_size_and_theme_to_the_page(overall, searched):
    for figure in [*overall.values(), *searched.values()]:
        assert figure.spec["data"] == {"name": "rows"}
        assert figure.spec["width"] == "container"
        assert not {"config", "datasets"} & set(figure.spec)
        assert len(json.dumps(figure.spec)) < 12_000, figure.name
        json.dumps(figure.rows, allow_nan=False)


def test_every_figure_is_drawn_without_a_warning(overall, searched, capfd):
    import vl_convert

    for figure in [*overall.values(), *searched.values()]:
        spec = {**figure.spec, "width": WIDTH, "datasets": {"rows": list(figure.rows)}}
        for config in (LIGHT, DARK):
            svg = vl_convert.vegalite_to_svg(spec, config=config, show_warnings=True)
            assert len(ET.fromstring(svg).findall(f".//{SVG}path")) > 3, figure.name
    assert "WARN" not in "".join(capfd.readouterr())


def test_gains_have_a_point_and_an_interval_for_each_comparison(overall, comparison):
    plain = [contrast for contrast in comparison.contrasts if not contrast.rival]
    printed, ours = marks(overall["gains"], "symbol")
    assert len(ours) == len(plain) == 12
    assert len(printed) == sum(contrast.paper_gain is not None for contrast in plain)
    assert [len(layer) for layer in marks(overall["gains"], "rule")] == [3, 1, 12]


def test_gains_stand_where_their_numbers_say(overall):
    row = max(overall["gains"].rows, key=lambda row: row["gain"])
    assert (
        f"{row['method']} on {row['graph']}, {100 * row['gain']:+.2f} points"
        in overall["gains"].text
    )
    assert row["low"] < row["gain"] < row["high"]
    ours = marks(overall["gains"], "symbol")[1]
    places = [float(re.match(r"translate\(([-\d.]+)", mark.get("transform"))[1]) for mark in ours]
    gains = [row["gain"] for row in overall["gains"].rows]
    assert sorted(range(12), key=places.__getitem__) == sorted(range(12), key=gains.__getitem__)


def test_verdicts_differ_in_shape_as_well_as_in_colour(overall):
    looks = {(mark.get("d"), mark.get("fill")) for mark in marks(overall["gains"], "symbol")[1]}
    verdicts = {row["verdict"] for row in overall["gains"].rows}
    assert len(verdicts) == len({shape for shape, _ in looks}) == len({fill for _, fill in looks})


def test_lines_stand_under_the_name_of_their_graph_and_follow_a_filter(overall):
    shown = texts(overall["gains"])
    assert shown.index("cornell") < shown.index("texas")
    some = tuple(row for row in overall["gains"].rows if row["graph"] == "texas")
    filtered = replace(overall["gains"], rows=some)
    assert "cornell" not in texts(filtered)
    assert len(marks(filtered, "symbol")[1]) == 4


def test_ranks_say_why_there_are_no_bars(overall, comparison):
    assert comparison.across.reason in overall["ranks"].text
    assert "sage+clar 1.00" in overall["ranks"].text
    assert "sage+clar  1.00" in texts(overall["ranks"])
    assert len(marks(overall["ranks"], "rule")) == 3  # stems, and their ends on both sides


def test_ranks_have_a_bar_for_each_clique(run, comparison):
    across = Across(
        graphs=tuple("abcdefgh"),
        methods=("gcn", "gat", "sage", "mlp"),
        ranks=(1.5, 2.0, 2.75, 3.75),
        friedman=0.01,
        planned=(),
        pairs=(),
        cliques=(("gcn", "gat"), ("gat", "sage", "mlp")),
        reason="",
    )
    figures = of_comparison(replace(comparison, across=across), [run])
    figure = next(figure for figure in figures if figure.kind == "ranks")
    *_, bars = marks(figure, "rule")
    assert len(bars) == 2
    lengths = [float(bar.get("x2")) for bar in bars]
    assert lengths[1] == pytest.approx(3.5 * lengths[0])  # 1.75 ranks and 0.5
    assert [row["bars"] for row in figure.rows] == ["a", "a b", "b", "b"]
    assert "gat, sage, mlp" in figure.text and "p = 0.01" in figure.text


def test_scores_stand_against_those_of_the_paper(overall, comparison):
    figure = overall["paper"]
    assert len(marks(figure, "symbol")[0]) == len(figure.rows) == 18
    assert {"chameleon", "cornell", "texas"} <= set(texts(figure))
    inside = sum(
        abs(score.mean - score.paper) <= score.half_width
        for score in comparison.scores
        if score.paper is not None
    )
    assert f"for {inside} of 18 scores" in figure.text


def gains_with(halves):
    """Rows of gains of a point each, with these halves of intervals."""
    gain = 0.01
    return [{"gain": gain, "paper_gain": None, "low": gain - h, "high": gain + h} for h in halves]


def test_intervals_of_a_few_do_not_hide_the_others():
    assert edge_of(gains_with([0.02] * 9 + [0.8])) == pytest.approx(1.1 * 3)
    assert edge_of(gains_with([0.02] * 10)) is None, "all fit"
    assert edge_of(gains_with([0.02] * 3 + [0.8])) is None, "too few to call one an exception"
    assert edge_of([{**row, "low": None} for row in gains_with([0.8] * 10)]) is None


def test_an_interval_beyond_the_axis_ends_in_an_arrow(comparison):
    narrow = [replace(effect, half=0.001) for effect in comparison.effects]
    wide = [replace(narrow[0], half=5.0), *narrow[1:]]

    def figure(effects):
        (found, *_) = gain_figures(replace(comparison, effects=tuple(effects)))
        return found

    def drawn_marks(shown):
        return sum(map(len, marks(shown, "symbol")))

    assert drawn_marks(figure(wide)) == drawn_marks(figure(narrow)) + 2
    assert "an arrow: it goes on" in figure(wide).text
    assert "an arrow" not in figure(narrow).text


def test_no_axis_shows_more_than_all(comparison):
    """An interval may end where no score can be, or be unknown; no line is drawn there."""
    wide = [replace(score, half_width=2.0) for score in comparison.scores]
    unknown = [replace(score, half_width=None) for score in comparison.scores]

    def figure(scores):
        return paper_figure(replace(comparison, scores=tuple(scores)))

    shown = {float(text) for text in texts(figure(wide)) if re.fullmatch(r"[\d.]+", text)}
    assert {0.0, 100.0} <= shown and max(shown) == 100.0
    assert "−10" not in texts(figure(wide))
    _, bars, *_ = marks(figure(wide), "rule")
    assert {abs(float(bar.get("y2"))) for bar in bars} == {400.0}
    assert sum(map(len, marks(figure(unknown), "rule"))) < sum(
        map(len, marks(figure(wide), "rule"))
    )


def test_expected_best_is_the_mean_over_all_subsets():
    scores = [0.2, 0.9, 0.4, 0.7, 0.7, 0.1]
    for count in range(1, 7):
        every = [max(subset) for subset in combinations(scores, count)]
        assert expected_best(sorted(scores), count) == pytest.approx(fmean(every))


def test_expected_best_of_a_search_is_that_of_its_winners(study):
    def winning(trials):
        scored = [t for t in trials if t.val_score is not None]
        return max(scored, key=lambda t: (t.repeats, t.val_score)).val_score

    scores = preferred_last(study.trials, "accuracy")
    for count in (1, 3, len(scores)):
        every = [winning(subset) for subset in combinations(study.trials, count)]
        assert expected_best(scores, count) == pytest.approx(fmean(every))


def test_expected_best_knows_errors_and_failures(study):
    first, second, third, *_ = study.trials
    trials = [
        replace(first, state="complete", repeats=9, val_score=0.5),
        replace(second, state="complete", repeats=9, val_score=0.3),
        replace(third, state="failed", repeats=0, val_score=None),
    ]
    assert preferred_last(trials, "accuracy") == [0.3, 0.3, 0.5]
    assert preferred_last(trials, "mse") == [0.5, 0.5, 0.3]
    assert preferred_last(trials[2:], "mse") == []


def test_expected_lines_end_at_the_score_of_the_winner(overall, run):
    figure = overall["expected-texas"]
    for study in run.studies:
        if study.graph == "texas":
            own = [row for row in figure.rows if row["method"] == study.method]
            assert [row["trials"] for row in own] == list(range(1, len(study.trials) + 1))
            assert own[-1]["expected"] == pytest.approx(study.best.val_score)
    assert sum(map(len, marks(figure, "line"))) == 6


def test_a_long_search_has_few_points(run, comparison, study):
    trials = tuple(replace(study.trials[0], trial=number) for number in range(5000))
    long = RunView("long", run.row, (replace(study, trials=trials),))
    (figure,) = [f for f in of_comparison(comparison, [long]) if f.kind == "expected"]
    counts = [row["trials"] for row in figure.rows]
    assert len(counts) <= 24 and counts[0] == 1 and counts[-1] == 5000


def test_penalties_show_how_often_each_term_was_active(overall, run):
    figure = overall["penalty"]
    study = next(s for s in run.studies if (s.graph, s.method) == ("texas", "sage+clar"))
    terms = study.finals[0].terms
    rows = [row for row in figure.rows if (row["graph"], row["method"]) == ("texas", "sage+clar")]
    assert {row["term"]: row["active"] for row in rows} == {
        name: pytest.approx(term["active"]) for name, term in terms.items()
    }
    assert {row["finals"] for row in rows} == {10}
    assert {"dropedge", "none"}.isdisjoint(
        {row["method"].partition("+")[2] for row in figure.rows}
    )


def test_a_winner_without_weights_shows_that_it_has_none(run, comparison):
    studies = tuple(
        replace(s, finals=tuple(replace(f, terms={}, penalty_active=0.0) for f in s.finals))
        if s.method == "gcn+clar"
        else s
        for s in run.studies
    )
    figures = of_comparison(comparison, [RunView("run", run.row, studies)])
    figure = next(figure for figure in figures if figure.kind == "penalty")
    own = [row for row in figure.rows if row["method"] == "gcn+clar"]
    assert [(row["term"], row["active"], row["value"]) for row in own] == [
        ("weight 0", 0.0, None)
    ] * 3
    assert "weight 0 for 3 winners" in figure.text


def test_budgets_count_trainings_and_time(overall, run):
    figure = overall["budget"]
    own = [study for study in run.studies if study.method == "gcn+clar"]
    search, finals = (row for row in figure.rows if row["method"] == "gcn+clar")
    assert search["trainings"] == sum(study.repeats for study in own)
    assert finals["trainings"] == 30
    assert search["seconds"] + finals["seconds"] == sum(study.seconds for study in own)
    assert f"{search['trainings']} + 30" in texts(figure)
    assert len(marks(figure, "rect")[0]) == 12


def test_history_tells_states_apart_and_names_the_winner(run):
    study = next(s for s in run.studies if s.method == "gcn+nl" and s.count("failed"))
    (figure, *_) = of_study(study, {})
    failed, scored, ring = study.count("failed"), len(trials_of(study).scored), 1
    assert [len(layer) for layer in marks(figure, "symbol")] == [scored, ring, failed]
    assert f"Trial {study.winner.trial}, ringed, wins with {100 * study.best.val_score:.2f} %" in (
        figure.text
    )
    assert f"{failed} failed" in figure.text
    assert "No importances" in figure.text
    assert figure.rows[-1]["best"] == study.best.val_score


def test_rungs_end_where_trials_were_stopped(study, searched):
    assert rungs_of(study) == (1, 3, 9)
    reached = [min(len(study.curves[t.trial]), 9) for t in study.trials]
    points = sum(1 + (n >= 3) + (n >= 9) for n in reached)
    assert len(marks(searched["rungs"], "symbol")[0]) == points
    for row in searched["rungs"].rows:
        curve = study.curves[row["trial"]]
        assert row["mean_1"] == curve[0]
        assert row["mean_9"] == (pytest.approx(fmean(curve)) if len(curve) == 9 else None)


def test_rungs_are_those_of_the_manifest_as_far_as_trials_came(study):
    def stopped_at(rungs, *lengths):
        trials = tuple(
            replace(study.trials[0], trial=n, state="pruned") for n in range(len(lengths))
        )
        curves = {n: (0.5,) * length for n, length in enumerate(lengths)}
        return rungs_of(replanned(replace(study, trials=trials, curves=curves), rungs=rungs))

    assert stopped_at((1, 3, 9), 1, 1, 9) == (1, 3, 9)
    assert stopped_at((1, 3, 9), 1, 1, 4) == (1, 3)
    assert stopped_at((1, 2, 4, 8), 1, 2, 8) == (1, 2, 4, 8)
    assert stopped_at((), 2, 7) == (), "nothing was pruned"


def test_figures_of_trials_share_their_rows(searched, study):
    shared = {id(figure.rows) for kind, figure in searched.items() if kind != "importance"}
    assert len(shared) == 1
    assert len(searched["history"].rows) == len(study.trials)


def test_studies_of_one_shape_are_charted_once(study):
    own = (study, replanned(replace(study, search=1), graph="cora"))
    specs = [{f.kind: f.spec for f in of_study(study, {"lr": 1.0})} for study in own]
    assert specs[0]["importance"] is specs[1]["importance"]
    assert specs[0]["rungs"] is specs[1]["rungs"]
    assert specs[0]["parallel"]["transform"] is specs[1]["parallel"]["transform"]


def test_parallel_lines_cross_each_axis_at_their_value(study):
    trials = trials_of(study)
    (figure,) = [f for f in of_study(study, {}) if f.kind == "parallel"]
    axes = axes_of(trials)
    lines = sorted(path for layer in marks(figure, "line") for path in map(points_of, layer))
    assert {len(line) for line in lines} == {len(axes)}
    best = max(trials.rows, key=lambda row: row["val_score"])
    ends = {line[-1][1] for line in lines}
    top = min(ends)  # y points down
    dropouts = [axis.column for axis in axes].index("dropout")
    highest = next(line for line in lines if line[-1][1] == top)
    heights = sorted({line[dropouts][1] for line in lines}, reverse=True)
    assert len(heights) == 2
    assert highest[dropouts][1] == heights[[0, 0.5].index(best["dropout"])]


def test_parallel_lines_show_failed_trials_too(run):
    study = next(s for s in run.studies if s.method == "gcn+nl" and s.count("failed"))
    (figure,) = [f for f in of_study(study, {}) if f.kind == "parallel"]
    paths = [path for layer in marks(figure, "line") for path in layer]
    assert len(paths) == len(study.trials) + 1  # and the winner above the others
    assert sum(path.get("stroke") == GREY for path in paths) == study.count("failed")
    assert "failed" in texts(figure)


def test_parallel_axes_are_places_or_ranges(study):
    params = [
        {"rate": 10.0 ** -(n % 5) * (1 + n / 50), "hidden": 16 * 2 ** (n % 3), "flag": n % 2 == 0}
        for n in range(20)
    ]
    for n, own in enumerate(params):
        if n % 4:
            own["clamp"] = None if n % 2 else 10
    trials = tuple(
        replace(study.trials[0], trial=n, params=own, val_score=0.5 + n / 100)
        for n, own in enumerate(params)
    )
    parameters = {
        "rate": {"low": 1e-5, "high": 2.0, "log": True, "integer": False},
        "hidden": {"values": [16, 32, 64]},
        "flag": {"values": [False, True]},
        "clamp": {"values": [None, 10], "when": {"flag": [False, True]}},
    }
    shown = replanned(replace(study, trials=trials, curves={}), parameters=parameters)
    axes = {axis.name: axis for axis in axes_of(trials_of(shown))}
    assert axes["rate"].log and axes["rate"].values == ()
    assert axes["hidden"].values == (16, 32, 64)
    assert axes["flag"].values == ("false", "true")
    assert axes["clamp"].values == (10, "null") and axes["clamp"].missing
    assert axes["validation"].low == 0.5 and not axes["validation"].missing


def test_parameters_may_have_any_name(study):
    names = ["state", "score", "mean_1", "a.b[0]", "axis_00", "it's", "place", "x" * 300, "<b>"]
    trials = tuple(
        replace(study.trials[0], trial=n, params={name: n for name in names}) for n in range(3)
    )
    figures = of_study(replace(study, trials=trials), {})
    (figure,) = [f for f in figures if f.kind == "parallel"]
    assert {row["state"] for row in figure.rows} == {trials[0].state}
    (line, *_), *_ = marks(figure, "line")
    assert len(points_of(line)) == len(names) + 1


def test_the_map_has_a_cell_for_each_pair_of_weights(searched):
    figure = searched["map"]
    pairs = {(row["alpha"], row["beta"]) for row in figure.rows if row["val_score"] is not None}
    assert len(marks(figure, "rect")[0]) == len(pairs)
    assert f"{len(pairs)} pairs were tried" in figure.text


def test_the_map_of_ranges_has_a_point_for_each_trial(study):
    draw = random.Random(3)
    trials = tuple(
        replace(
            study.trials[0],
            trial=n,
            val_score=draw.random(),
            params={"alpha": draw.random(), "beta": draw.choice([0, draw.random()])},
        )
        for n in range(40)
    )
    weights = {
        "alpha": {"low": 0.0, "high": 1.0, "log": False, "integer": False},
        "beta": {"low": 0.0, "high": 1.0, "log": False, "integer": False},
    }
    drawn_from = replanned(replace(study, trials=trials), parameters=weights)
    (figure,) = [f for f in of_study(drawn_from, {}) if f.kind == "map"]
    assert len(marks(figure, "symbol")[0]) == 40


def test_a_study_without_a_weight_has_no_map(run):
    study = next(s for s in run.studies if s.method == "gcn+nl")
    assert "map" not in {figure.kind for figure in of_study(study, {})}


def test_importances_are_bars_in_order(searched):
    assert [row["parameter"] for row in searched["importance"].rows] == ["lr", "alpha", "beta"]
    assert "lr 60 %, alpha 30 %, beta 10 %" in searched["importance"].text
    assert len(marks(searched["importance"], "rect")[0]) == 3


def test_a_study_without_a_search_has_no_figures(study):
    plain = replace(study.trials[0], repeats=0, val_score=None, state="complete")
    assert of_study(replace(study, trials=(plain,), curves={}), {}) == []


def test_a_run_in_progress_shows_what_there_is():
    seen = set()
    for events in (1, 3, 30, 200):
        plan, memory = plan_from(SPACE), Memory()
        work(scheduler_for(plan, memory), events=events)
        row = manifest_of(plan, {})
        studies = studies_of(row, memory.trials.values(), memory.finals, memory.scores())
        view = RunView("going", row, tuple(studies))
        figures = of_comparison(compare([view]), [view])
        figures += [figure for study in studies for figure in of_study(study, {})]
        for figure in figures:
            assert figure.rows
            drawn(figure)
        seen |= {figure.kind for figure in figures}
    assert {"history", "budget", "expected"} <= seen and "gains" not in seen


def test_without_the_paper_its_numbers_are_missing():
    run = finished(SPACE.replace("paper: III\n", ""))
    figures = {figure.name: figure for figure in of_comparison(compare([run]), [run])}
    assert "paper" not in figures
    assert len(marks(figures["gains"], "symbol")) == 1
    assert "in the paper" not in texts(figures["gains"])


def test_few_finals_have_no_verdict_and_a_single_one_no_interval():
    run = finished(SPACE, finals=1)
    figure, *_ = of_comparison(compare([run]), [run])
    tested = [row for row in figure.rows if row["verdict"] != "unused"]
    assert {row["verdict"] for row in tested} == {"undecided"}
    assert {row["low"] for row in tested} == {None}
    assert f"{len(tested)} undecided" in figure.text
    drawn(figure)


def test_errors_are_shown_as_they_are(run, comparison, study):
    rows = tuple(replace(row, metric="mse") for row in comparison.rows)
    figures = of_comparison(replace(comparison, rows=rows), [run])
    assert "MSE relative to the plain backbone (below 1 is better)" in texts(figures[0])
    wrong = replanned(study, metric="mse")
    history = of_study(wrong, {})[0]
    assert "Validation MSE" in texts(history)
    best = [row["best"] for row in history.rows]
    full = [r["val_score"] for r in history.rows if r["repeats"] == 9]
    assert best[-1] == min(full)


def test_hostile_names_give_safe_and_different_files(study):
    methods = [
        HOSTILE,
        HOSTILE + "y",
        "😀",
        "../../x",
        "GCN",
        "gcn",
        "gcn+clar",
        "gcn-clar",
        "a:b",
        "a.b",
    ]
    names = [of_study(replanned(study, method=m), {"lr": 1.0})[0].name for m in methods]
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]{0,99}", name) for name in names)
    assert len(set(names) - {"texas-gcn-clar-history"}) == len(methods) - 2
    assert (
        file_stem("texas", "gcn+clar", "layers=8", "history") == "texas-gcn-clar-layers-8-history"
    )


def test_hostile_names_show_as_text(tmp_path, run):
    studies = tuple(replanned(s, method=s.method.replace("clar", HOSTILE)) for s in run.studies)
    row = replace(run.row, study_plans=[to_stored(study.planned) for study in studies])
    hostile = RunView(HOSTILE, row, studies)
    figures = of_comparison(compare([hostile]), [hostile])
    figures += of_study(replanned(studies[-1], condition=HOSTILE), {HOSTILE: 1.0})
    assert len({figure.name for figure in figures}) == len(figures)
    for file in write_figures(figures, tmp_path):
        if file.suffix == ".svg":
            assert not list(ET.parse(file).iter(f"{SVG}script"))
    assert all(len(figure.title) < 250 and len(figure.text) < 3000 for figure in figures)
    assert all("\n" not in figure.title for figure in figures)


def test_files_are_written_for_every_figure(tmp_path, overall, searched):
    figures = [*overall.values(), *searched.values()]
    files = write_figures(figures, tmp_path / "new" / "folder")
    assert sorted(files) == sorted((tmp_path / "new" / "folder").iterdir())
    assert len(files) == 3 * len(figures)
    for figure in figures:
        folder = tmp_path / "new" / "folder"
        assert parsed(folder / f"{figure.name}.csv") == as_cells(figure.rows)
        svg = ET.parse(folder / f"{figure.name}.svg").getroot()
        png = (folder / f"{figure.name}.png").read_bytes()
        assert png.startswith(b"\x89PNG")
        width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
        assert width == pytest.approx(2 * float(svg.get("width")), abs=2)
        assert width > 2 * WIDTH and height > 100
        background = next(svg.iter(f"{SVG}rect"))
        assert background.get("fill") == "#ffffff"


def test_figures_are_not_written_over_a_file(tmp_path, searched):
    (tmp_path / "here").write_text("kept")
    with pytest.raises(StoreError, match="here"):
        write_figures([searched["history"]], tmp_path / "here")
    assert (tmp_path / "here").read_text() == "kept"


def test_the_script_is_one_plain_script():
    script = vega_script()
    assert "window.vegaEmbed" in script
    assert "</script" not in script.lower() and "<!--" not in script
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert vega_script() is script


def contrast(first, second):
    """The contrast ratio of two colours, as WCAG defines it."""

    def light(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("theme", "page"), [(LIGHT, "#ffffff"), (LIGHT, "#f6f8fa"), (DARK, "#161b22")]
)
def test_text_and_marks_stand_out(theme, page):
    written = [theme["axis"]["labelColor"], theme["axis"]["titleColor"]]
    written += [theme["style"][style]["color"] for style in ("note", "small")]
    assert min(contrast(colour, page) for colour in written) >= 4.5
    drawn_in = [*theme["range"]["category"], BLUE, ORANGE, GREY, PURPLE]
    assert min(contrast(colour, page) for colour in drawn_in) >= 3
