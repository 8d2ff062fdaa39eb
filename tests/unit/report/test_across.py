"""What a page says of methods over all graphs: who is ahead, and what no test could find."""

import re
from dataclasses import replace
from functools import cache

import pytest
from support.parsed_page import Parsed
from support.results import SPACE, finished, plausible

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.records import Comparison
from clar_tune.analysis.runs import RunView
from clar_tune.report import build_page
from clar_tune.report.builders.matrix import matrix_of
from clar_tune.report.builders.methods import pairs_table, planned_table
from clar_tune.report.figures import of_comparison
from clar_tune.report.renderers.html import laid_out

GRAPHS = (
    *("chameleon", "squirrel", "texas", "cora", "citeseer", "pubmed"),
    *("actor", "photo", "computers"),
)


@cache
def run() -> RunView:
    text = SPACE.replace("[chameleon, cornell, texas]", f"[{', '.join(GRAPHS)}]")
    return finished(text, plausible)


@cache
def comparison() -> Comparison:
    return compare([run()])


@cache
def built() -> Parsed:
    return Parsed(build_page([run()]))


def cells(table):
    """By both methods, the other cells."""
    return {
        (line.cells[0].text, line.cells[1].text): [cell.text for cell in line.cells[2:]]
        for line in table.lines
    }


def test_planned_comparisons_say_who_is_ahead():
    found = cells(planned_table(comparison()))
    assert len(found) == len(comparison().across.planned) == 6
    ahead, p, p_holm, told = found["gcn+clar", "gcn"]
    assert (ahead, told) == ("gcn+clar", "▲ better") and float(p) < float(p_holm) < 0.05
    ahead, _, p_holm, told = found["gcn+dropedge", "gcn"]
    assert (ahead, told) == ("gcn", "▼ worse") and float(p_holm) < 0.05


def test_a_table_without_any_chance_says_so():
    planned, every = planned_table(comparison()), pairs_table(comparison())
    assert "could be told apart" not in planned.note
    assert (
        "None of these 15 pairs could be told apart: over 9 graphs the least p_holm of so many "
        "is 0.059." in every.note
    )
    assert {told for *_, told in cells(every).values()} == {"○ no"}
    assert cells(every)["gcn", "gcn+clar"][0] == "gcn+clar"  # ahead, but not told apart
    (figure,) = [f for f in of_comparison(comparison(), [run()]) if f.kind == "ranks"]
    assert "One bar joins all of them. None of these 15 pairs could be told apart" in figure.text


def test_the_page_has_both_tables_the_planned_one_first():
    page = built()
    idents = page.attribute("table", "id")
    assert idents.index("standings") < idents.index("planned") < idents.index("pairs")
    (fold,) = [given for tag, given in page.tags if given.get("id") == "all-pairs"]
    assert "open" not in fold


def test_every_mark_in_the_matrix_is_explained_below_it():
    matrix = matrix_of(comparison())
    flags = {sign for row in matrix.rows for cell in row.cells for sign in cell.signs} - {"*"}
    assert "¶" in flags  # some winner of clar has beta 0
    assert {note.sign for note in laid_out(matrix).notes} == flags


def test_winning_parameters_are_told_whole():
    study = next(s for s in run().studies if s.method == "gcn+clar")
    params = study.best.params
    assert len(str(params)) > 100
    texts = [text for text in built().texts if text.startswith("alpha ")]
    told = next(t for t in texts if "beta " in t and f"lr {params['lr']:.4g}" in t)
    assert "…" not in told
    assert [part.split()[0] for part in told.split(", ")] == sorted(params)


@pytest.mark.parametrize("state", ["running", "finished"])
def test_a_run_under_way_tells_its_time_of_training(state):
    small = finished()  # on three graphs: less to draw
    row = replace(small.row, state=state, seconds=0.0 if state == "running" else 3600.0)
    text = Parsed(build_page([replace(small, row=row)])).text
    trained = sum(study.seconds for study in small.studies)
    assert trained > 60
    if state == "running":
        assert re.search(r"UTC, \d+ min \d\d s of training so far", text)
        assert "0 s of work" not in text
    else:
        assert "1 h 00 min of work" in text
