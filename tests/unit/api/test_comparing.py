"""Comparisons, figures and pages of stored runs, as a program asks for them."""

import base64
import csv
import io
import json
import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.results import simulated, stored

import clar_tune as ct
from clar_tune.cli import main
from clar_tune.errors import ParameterError, UnknownName

TEXAS = {"graphs": ("texas",), "methods": ("gcn", "sage", "gcn+clar")}


@cache
def made(**options):
    return simulated(**options)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A run, the same on other splits, and one of another graph that can be joined with it."""
    folder = tmp_path_factory.mktemp("store")
    stored(folder, *made(**TEXAS), "one")
    stored(folder, *made(**{**TEXAS, "graphs": ("cornell",)}), "two")
    stored(folder, *made(**TEXAS, protocol="random-60-20-20"), "uniform")
    return ct.open_store(folder)


@pytest.fixture(scope="module")
def compared(store):
    return ct.compare(store["one"])


def commanded(store, *words):
    url = store["one"].store.url
    done = CliRunner().invoke(main, ["compare", *words, "--store", url])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
@pytest.mark.parametrize("explain", [True, False])
def test_every_format_is_that_of_the_command(store, compared, form, explain):
    words = ["--explain"] * explain
    assert compared.to(form, explain=explain) == commanded(store, "one", "--format", form, *words)


def test_a_format_that_there_is_not_is_refused(compared):
    with pytest.raises(UnknownName, match="unknown format 'tex'.*csv, html, json, latex"):
        compared.to("tex")


def test_what_it_says_is_at_hand(compared):
    (table,) = compared.tables
    assert compared.headline == table.headline != ""
    assert compared.conclusions == table.conclusions != ()
    assert repr(compared) == f"<comparison of one: {table.headline}>"
    assert str(compared) == compared.to("table")


@pytest.mark.parametrize("kind", ["scores", "effects", "contrasts", "backbones", "rows"])
def test_frames_are_the_records_of_json(compared, kind):
    (content,) = json.loads(compared.to("json"))["comparisons"]
    frame = compared.frame(kind)
    assert len(frame) == len(content[kind]) > 0
    assert set(frame["runs"]) == {"one"}
    flat = {name for name, value in content[kind][0].items() if not isinstance(value, dict)}
    assert flat <= set(frame.columns)
    for name in ("graph", "method", "verdict", "effect", "mean"):
        if name in flat:
            assert list(frame[name]) == [record[name] for record in content[kind]]


def test_records_inside_records_are_columns(compared):
    (content,) = json.loads(compared.to("json"))["comparisons"]
    trials = [score["budget"]["trials"] for score in content["scores"]]
    assert list(compared.frame("scores")["budget_trials"]) == trials


def test_a_kind_without_records_is_an_empty_frame_and_an_unknown_one_is_refused(compared):
    assert len(compared.frame("correlations")) == 0
    for wrong in ("effect", "methods", "headline"):
        with pytest.raises(UnknownName, match="unknown kind of records"):
            compared.frame(wrong)


def test_criteria_are_those_of_the_command(store):
    compared = ct.compare(store["one"], margin=0.5, baseline="sage", interval="nadeau-bengio")
    words = ("--margin", "0.5", "--baseline", "sage", "--interval", "nadeau-bengio")
    assert compared.to("json") == commanded(store, "one", *words, "--format", "json")
    assert set(compared.frame("backbones")["against"]) == {"sage"}


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"margin": 0}, ParameterError),
        ({"interval": "wide"}, UnknownName),
        ({"baseline": "gat"}, UnknownName),
    ],
)
def test_criteria_that_mean_nothing_are_refused(store, wrong, error):
    with pytest.raises(error):
        ct.compare(store["one"], **wrong)


def test_runs_are_joined_and_one_given_twice_counts_once(store):
    compared = ct.compare(store["one"], store["two"], store["one"])
    assert compared.to("csv") == commanded(store, "one", "two", "--format", "csv")
    assert set(compared.frame("scores")["graph"]) == {"texas", "cornell"}


def test_runs_of_two_stores_are_joined(store, tmp_path):
    stored(tmp_path, *made(**{**TEXAS, "graphs": ("cornell",)}), "one")
    compared = ct.compare(store["one"], ct.open_store(tmp_path)["one"])
    assert set(compared.frame("scores")["graph"]) == {"texas", "cornell"}


def test_two_runs_that_differ_in_their_splits_are_two_tables(store):
    compared = ct.compare(store["one"], store["uniform"])
    assert [table.runs for table in compared.tables] == [("one",), ("uniform",)]
    assert compared.to("json") == commanded(store, "one", "uniform", "--format", "json")
    assert list(dict.fromkeys(compared.frame("scores")["runs"])) == ["one", "uniform"]
    assert compared.headline.count("\n") == 1


def test_no_run_at_all_is_refused(tmp_path):
    for nothing in (ct.compare, lambda: ct.report(out=tmp_path / "report.html")):
        with pytest.raises(ParameterError, match="no run is given"):
            nothing()
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_the_answer_with_its_style_and_without_scripts(compared):
    html = compared._repr_html_()
    assert html.strip().startswith('<div class="clar-tune">') and "<style>" in html
    assert "<script" not in html and "--explain" not in html
    assert "What can be concluded" in html and 'class="matrix"' in html
    shown, _, folded = html.partition("<details>")
    assert "How to read it" in folded and "How to read it" not in shown
    rules = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    selectors = re.findall(r"([^{},]+)[{,](?![^{]*\})", re.sub(r"\{[^}]*\}", "{},", rules))
    assert selectors and all(s.strip().startswith(".clar-tune") for s in selectors if s.strip())


def test_figures_of_a_kind_show_their_pictures(store, compared):
    gains = ct.figures(compared, "gains")
    assert {figure.kind for figure in gains} == {"gains"} and len(gains) >= 1
    html = gains._repr_html_()
    pictures = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert [base64.b64decode(text).decode() for text in pictures] == [f.svg() for f in gains]
    assert gains[0].svg().startswith("<svg") and gains[0].title in html
    assert gains[0]._repr_html_().count("<img") == 1


def test_figures_of_searches_are_found_by_their_kind(store):
    histories = ct.figures(store["one"], "history")
    assert [figure.name for figure in histories] == [
        f"texas-{method}-history" for method in ("gcn", "sage", "gcn-clar")
    ]
    assert isinstance(histories[:2], ct.Figures) and len(histories[:2]) == 2
    every = ct.figures(store["one"])
    assert {"gains", "budget", "history", "importance"} <= {figure.kind for figure in every}


def test_a_kind_of_figure_that_there_are_no_data_for_is_refused(store):
    with pytest.raises(UnknownName, match="'histories'. Did you mean 'history'"):
        ct.figures(store["one"], "histories")


def test_figures_follow_the_criteria_of_a_comparison(store):
    usual, wide = (
        ct.figures(ct.compare(store["one"], interval=interval), "gains")[0].text
        for interval in ("splits", "nadeau-bengio")
    )
    assert usual != wide


def test_a_figure_has_its_data_and_files(store, tmp_path):
    figure = ct.figures(store["one"], "budget")[0]
    rows = figure.frame()
    assert figure.spec["datasets"]["rows"] == list(figure.drawing.rows)
    files = figure.save(tmp_path / "figures")
    assert [file.name for file in files] == ["budget.svg", "budget.png", "budget.csv"]
    lines = list(csv.DictReader(io.StringIO(files[2].read_text())))
    assert len(lines) == len(rows) and set(lines[0]) == set(rows.columns)


def test_a_page_is_written_as_the_command_writes_it(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ct.report(store["one"]) == Path("report.html")
    assert ct.report(store["one"], store["two"], out="both.html").is_file()
    assert "cornell" in Path("both.html").read_text() not in Path("report.html").read_text()


@pytest.mark.parametrize(
    ("out", "problem"), [(".", "is a folder"), ("none/a.html", "there is no folder none")]
)
def test_a_page_that_cannot_be_written_is_refused(store, tmp_path, monkeypatch, out, problem):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=problem):
        ct.report(store["one"], out=out)
