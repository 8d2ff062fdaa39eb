"""Any document in every format, and a new table in all of them without further work."""

import csv
import io
import json
from functools import cache
from typing import Any

import pytest
from markdown_it import MarkdownIt
from support.parsed_page import Parsed
from support.results import finished

from clar_tune.analysis import Comparison, compare
from clar_tune.errors import UnknownName
from clar_tune.report import build_page, document_of, render
from clar_tune.report.blocks import (
    DATA,
    PAGE,
    PRINT,
    Below,
    Cell,
    Column,
    Document,
    Figure,
    Heading,
    Headline,
    Line,
    Matrix,
    Note,
    Prose,
    Row,
    Table,
)
from clar_tune.report.builders import comparison as builder
from clar_tune.report.builders.fields import count, number, table_of, words
from clar_tune.report.renderers import FORMATS

TEXTS = ("terminal", "markdown", "latex", "html")
FIGURE = Figure(
    name="effects", kind="gains", title="Effects", text="One dot a cell.", rows=(), spec={}
)
FLOORS = [("texas", 0.5514, 37), ("cora", 0.3021, 541)]


def floors_table(_: Any = None) -> Table:
    """What a new builder looks like: the columns, and the records."""
    return table_of(
        "floors",
        "Scores of a constant",
        (
            words("graph", lambda floor: floor[0]),
            number("floor", lambda floor: Cell(floor[1], f"{100 * floor[1]:.2f}", "better")),
            count("test nodes", lambda floor: floor[2]),
            words("empty", lambda floor: ""),
        ),
        FLOORS,
        note="floor: the share of the largest class.",
    )


def verdict_grid() -> Matrix:
    return Matrix(
        ident="grid",
        title="Verdicts at a glance",
        sides=("graph", "method"),
        columns=(Heading("clar"), Heading("nl")),
        rows=(
            Row(
                Heading("texas"),
                (Cell(1.5, "+1.50", "best", "0.25", "†"), Cell()),
                (Below("constant", (Cell(0.5514, "55.14"), Cell())),),
            ),
            Row(Heading("cora"), (Cell(-0.5, "-0.50", half="0.75"), Cell(0.25, "+0.25"))),
        ),
        notes=(Note("†", "below the floor"), Note("‡", "of the page alone", (PAGE,))),
    )


def document() -> Document:
    return Document(
        (
            Headline("CLAR: effect decided in 2 of 3 cells"),
            Prose(("It is better on texas.",), "What follows", "conclusions"),
            Prose(("Nothing is sold here.",)),
            floors_table(),
            verdict_grid(),
            Prose(("Read it from left to right.",), "How to read it"),
            FIGURE,
        ),
        stored={"answer": 42},
        origin={"runs": "first second"},
    )


def flattened(form: str, text: str) -> str:
    """A text as a reader sees it: in one line, without what sets it."""
    shown = Parsed(text).text if form == "html" else text
    for sign in ("\\textbf", "\\rlap", "\\textsuperscript", "$", "{", "}", "*", "│"):
        shown = shown.replace(sign, "")
    return " ".join(shown.split())


@pytest.mark.parametrize("form", TEXTS)
def test_every_block_is_shown_in_every_text(form: str):
    shown = flattened(form, render([document()], form))
    for text in (
        *("CLAR: effect decided in 2 of 3 cells", "What follows", "It is better on texas."),
        *("Nothing is sold here.", "Scores of a constant", "graph", "floor", "test nodes"),
        *("texas", "55.14", "37", "cora", "30.21", "541"),
        *("the share of the largest class.", "Verdicts at a glance", "+1.50", "-0.50", "+0.25"),
        *("clar", "nl", "0.25", "0.75", "constant", "below the floor"),
        *("Read it from left to right.", "Effects", "One dot a cell."),
    ):
        assert text in shown, text
    assert ("of the page alone" in shown) == (form == "html")
    assert "empty" not in shown  # the column in which nothing stands


def test_data_hold_the_values_of_every_table():
    (whole,) = json.loads(render([document()], "json"))["comparisons"]
    assert whole["answer"] == 42
    assert whole["floors"] == [
        {"graph": graph, "floor": floor, "test_nodes": nodes} for graph, floor, nodes in FLOORS
    ]
    cells = [("texas", "clar", 1.5), ("cora", "clar", -0.5), ("cora", "nl", 0.25)]
    assert [tuple(record.values()) for record in whole["grid"]] == cells
    rows = list(csv.DictReader(io.StringIO(render([document()], "csv"))))
    assert [row["record"] for row in rows] == ["floors"] * 2 + ["grid"] * 3
    assert {row["runs"] for row in rows} == {"first second"}
    assert [(row["graph"], row["floor"], row["test_nodes"]) for row in rows[:2]] == [
        (graph, str(floor), str(nodes)) for graph, floor, nodes in FLOORS
    ]
    assert [(row["graph"], row["method"], float(row["value"])) for row in rows[2:]] == cells


@pytest.mark.parametrize("form", FORMATS)
def test_a_block_is_shown_in_its_media_alone(form: str):
    def only(medium: str) -> Table:
        fields = (words("a", str), number("b", lambda _: Cell(1, "1")))
        return table_of(f"{medium}s", f"of {medium}", fields, ["x"], media=(medium,))

    text = render([Document(tuple(map(only, (PRINT, PAGE, DATA))))], form)
    medium = {"html": PAGE, "csv": DATA, "json": DATA}.get(form, PRINT)
    for name in (PRINT, PAGE, DATA):
        assert (f"of {name}" in text or f"{name}s" in text) == (name == medium)


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_may_be_empty_or_hold_names_alone(form: str):
    matrix = Matrix(ident="none", title="No rows", sides=("a", "b"), columns=(), rows=())
    empty = table_of("nothing", "No lines", (words("only", str),), [])
    names = table_of("names", "Names", (words("one", str), words("two", str)), ["word"], 2)
    text = render([Document((matrix, empty, names))], form)
    assert text.count("word") == (4 if form == "html" else 2)  # there in an attribute too
    assert "No rows" not in text and "No lines" not in text


def test_what_programs_alone_need_stands_in_data_alone():
    half = number("half", lambda floor: Cell(floor[2] / 1000)).but(media=(DATA,))
    gain = number("gain", lambda floor: Cell(floor[1], f"{floor[1]:.2f}", half=f"{floor[2]}"))
    table = table_of("t", "T", (words("graph", lambda floor: floor[0]), gain, half), FLOORS)
    for form in TEXTS:
        text = flattened(form, render([Document((table,))], form))
        assert "half" not in text and ("0.55 ± 37" in text or "0.55 \\pm 37" in text)
    (first, _) = json.loads(render([Document((table,))], "json"))["comparisons"][0]["t"]
    assert first == {"graph": "texas", "gain": 0.5514, "half": 0.037}


def test_an_unknown_format_is_refused():
    with pytest.raises(UnknownName, match="format.*'pdf'"):
        render([document()], "pdf")


@pytest.mark.parametrize("form", TEXTS)
def test_hostile_text_stays_text_in_any_block(form: str):
    evil = "<script>alert(1)</script>|`x`\\input{y}"
    table = Table(
        ident="evil",
        title=evil,
        columns=(Column(evil), Column("n", True)),
        lines=(Line((Cell(evil, evil), Cell(1, "1"))),),
        note=evil,
    )
    heading, cells = Heading(evil), (Cell(1, "1"),)
    rows = (Row(heading, cells, (Below(evil, cells),)),)
    matrix = Matrix(ident="odd", title=evil, sides=("a", "b"), columns=(heading,), rows=rows)
    blocks = (Headline(evil), Prose((evil,), evil), Prose((evil,)), table, matrix)
    text = render([Document(blocks)], form)
    if form == "html":
        assert not Parsed(text).scripts
    if form == "latex":
        assert "\\input" not in text.replace("\\textbackslash{}input", "")
    if form == "markdown":
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        inline = {token.type for top in tokens for token in top.children or []}
        assert not inline & {"html_inline", "code_inline"}
        assert not any(token.type == "html_block" for token in tokens)


@cache
def run():
    return finished()


@cache
def compared() -> Comparison:
    return compare([run()])


def test_a_new_builder_is_all_that_a_new_table_needs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(builder, "TABLES", (*builder.TABLES, floors_table))
    for form in TEXTS:
        text = flattened(form, render([document_of(compared())], form))
        assert "Scores of a constant" in text and "55.14" in text
    page = Parsed(build_page([run()]))
    assert "floors" in page.attribute("table", "id") and "Scores of a constant" in page.text
    assert "#more" in page.attribute("a", "href")
    whole = json.loads(render([document_of(compared())], "json"))["comparisons"][0]
    assert [record["floor"] for record in whole["floors"]] == [0.5514, 0.3021]
    rows = list(csv.DictReader(io.StringIO(render([document_of(compared())], "csv"))))
    assert [row["floor"] for row in rows if row["record"] == "floors"] == ["0.5514", "0.3021"]
    assert {row["runs"] for row in rows} == {"simulated"}


def test_a_page_without_new_tables_has_no_place_for_them():
    assert "#more" not in Parsed(build_page([run()])).attribute("a", "href")


def test_every_table_of_a_comparison_has_a_name_of_its_own():
    names = [b.ident for b in document_of(compared()).blocks if isinstance(b, Table | Matrix)]
    assert len(names) == len(set(names)) == len(builder.TABLES)


def test_cells_of_a_line_are_exported_in_full():
    long = "x" * 1000
    table = table_of("t", "T", (words("name", str),), [long], media=(DATA,))
    (record,) = table.records()
    assert record == {"name": long} and len(table.lines[0].cells[0].text) == 80
