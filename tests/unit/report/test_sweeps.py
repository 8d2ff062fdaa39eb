"""Pages about swept conditions: columns, correlations, errors, and grids of many cells."""

import json
from dataclasses import replace
from functools import cache

import pytest
from support.parsed_page import Parsed
from support.sweep_runs import gridded, swept, whole_grid

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.wording import excerpt
from clar_tune.report import build_page, numbers
from clar_tune.report.blocks import PAGE
from clar_tune.report.builders.effects import tallies_table
from clar_tune.report.builders.matrix import matrix_of
from clar_tune.report.builders.studies import studies_table
from clar_tune.report.progress import MOST_PLACES, progress_of
from clar_tune.report.renderers.html import laid_out


@cache
def page_of(space: str) -> Parsed:
    return Parsed(build_page([run_of(space)]))


def run_of(space: str) -> RunView:
    return gridded(every=4) if space == "sampling" else swept(space)


def chips(page: Parsed, kind: str) -> list[str]:
    """What the filter offers."""
    return [
        given["value"] or ""
        for tag, given in page.tags
        if tag == "input" and given.get("name") == kind
    ]


@pytest.mark.parametrize("space", ["depth", "filters", "sampling"])
def test_the_filter_knows_every_line_and_mark(space: str):
    page = page_of(space)
    for kind in ("graph", "method"):
        known = set(chips(page, kind))
        told = {given[f"data-{kind}"] for _, given in page.tags if f"data-{kind}" in given}
        assert told and told <= known
        for table in json.loads(page.data["figure-data"])["tables"]:
            if kind in table["columns"]:
                place = table["columns"].index(kind)
                assert {row[place] for row in table["rows"]} <= known


def test_columns_are_methods_with_their_conditions():
    page = page_of("depth")
    assert chips(page, "method") == list(compare([run_of("depth")]).methods)
    assert "gcn+clar clamp=10" in chips(page, "method")
    tallies = tallies_table(compare([run_of("depth")]))
    assert [line.cells[0].text for line in tallies.lines] == [
        *("clar clamp=1", "clar clamp=10", "dropedge", "madreg"),
    ]


def test_rows_are_graphs_under_their_conditions():
    found = laid_out(matrix_of(compare([run_of("depth")])))
    headings = found.down if found.corner == "graph" else found.across
    assert [(h.name, h.graph, h.small.partition(",")[0]) for h in headings] == [
        ("cora", "cora", f"layers={layers}") for layers in (2, 4, 8, 16, 32, 64)
    ]


def test_errors_have_ratios_and_neither_points_nor_percent():
    run, page = run_of("filters"), page_of("filters")
    found = compare([run])
    below = [below for row in matrix_of(found).rows for below in row.below_in(PAGE)]
    texts: dict[str, set[str]] = {}
    for line in below:
        cells = {f"{line.sign}{cell.text}" for cell in line.cells if cell.text}
        texts.setdefault(line.short or line.name, set()).update(cells)
    ratios = {f"× {numbers.ratio(contrast.ratio)}" for contrast in found.contrasts}
    printed = {f"× {numbers.ratio(contrast.paper_ratio)}" for contrast in found.contrasts}
    assert texts == {"ratio to plain": ratios, "paper": printed}
    assert "lower is better" in page.text and "points" not in page.text
    assert "Mean training score" in page.text
    heads = [text for text in page.texts if text in ("ratio", "paper's ratio", "gain")]
    assert {"ratio", "paper's ratio"} <= set(heads)


def test_correlations_stand_beside_those_of_the_paper():
    page, found = page_of("sampling"), compare([run_of("sampling")]).correlations
    assert "coefficients" in page.attribute("table", "id")
    for correlation in found:
        for value in (correlation.coefficient, correlation.low, correlation.high):
            assert numbers.coefficient(value) in page.text
    assert "+0.807" in page.text and "sampling: node and edge" in page.text
    figures = json.loads(page.data["figure-data"])["figures"]
    assert sum(figure["kind"] == "pairs" for figure in figures) == len(found) == 12


def test_studies_without_a_search_have_no_panel():
    page = page_of("sampling")
    assert "Nothing is searched" in page.text
    assert not [key for key in page.data if key.startswith("study-")]
    assert not page.attribute("button", "data-open")
    assert all(not line.key for line in studies_table([run_of("sampling")]).lines)
    searched = page_of("depth")
    assert len([key for key in searched.data if key.startswith("study-")]) == 36


def test_a_page_of_the_whole_grid_is_small_and_says_what_it_leaves_out():
    run = whole_grid()
    assert len(run.studies) == 4 * 162 * 3
    text = build_page([run])
    page = Parsed(text)
    assert len(text.encode()) < 5e6
    assert "Excerpt: 80 of 648 lines, the first of every graph" in page.text
    assert "Excerpt: 400 of 1,944 lines" in page.text
    lines = [given for tag, given in page.tags if tag == "tr" and given.get("data-graph")]
    for graph in ("cora", "citeseer", "chameleon", "squirrel"):
        assert sum(given["data-graph"] == graph for given in lines) > 100
    for found in compare([run]).correlations:
        assert len(found.points) == 162
        assert numbers.coefficient(found.coefficient) in page.text
    rows = [
        table["rows"]
        for table in json.loads(page.data["figure-data"])["tables"]
        if table["columns"] == ["graph", "condition", "x", "y"]
    ]
    assert [len(found) for found in rows] == [162] * 12


def test_a_long_run_under_way_shows_those_at_work():
    run = whole_grid()
    begun = [replace(study, finals=()) for study in run.studies[900:905]]
    row = replace(run.row, state="running")
    going = replace(run, row=row, studies=(*run.studies[:900], *begun))
    found = progress_of(going)
    assert found.planned == 1944 and len(found.places) <= MOST_PLACES
    assert [place.state for place in found.places].count("confirming") == 5
    assert {place.graph for place in found.places} == {study.graph for study in run.studies}
    assert f"{len(found.places)} of 1,944 studies are shown" in Parsed(build_page([going])).text


def test_an_excerpt_has_an_equal_share_of_every_graph():
    lines = [("a", n) for n in range(50)] + [("b", n) for n in range(3)]
    kept = excerpt(lines, lambda line: line[0], 10)
    assert kept == (*(("a", n) for n in range(5)), *(("b", n) for n in range(3)))
    assert excerpt(lines, lambda line: line[0], 53) == tuple(lines)


def test_joined_runs_of_one_sweep_make_one_figure():
    whole = swept("robustness", graphs=("cora",))
    parts = [
        replace(whole, name=name, studies=tuple(s for s in whole.studies if keeps(s.method)))
        for name, keeps in (("plain", "gcn".__eq__), ("clar", "gcn+clar".__eq__))
    ]
    page = Parsed(build_page(parts))
    figures = json.loads(page.data["figure-data"])["figures"]
    assert [figure["name"] for figure in figures if figure["kind"] == "sweep"] == [
        "cora-drop-edges-sweep"
    ]
