"""A comparison in print: golden files for every format, and what each must hold.

`UPDATE_GOLDEN=1 pytest tests/test_formats.py` writes the golden files anew: look at the difference
before you keep it.
"""

import csv
import io
import json
import math
import os
import re
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len
from support.pages import ROOT
from support.results import failing, finished
from support.swept_scores import (
    DEPTH,
    ERRORS,
    SAMPLING,
    SENSITIVITY,
    alike,
    deep,
    rising,
    table as table_of,
)

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.records import Across, Comparison, PairAcross
from clar_tune.report import document_of, numbers, render
from clar_tune.report.blocks import Cell, Column, Document, Line, Table
from clar_tune.report.renderers.latex_text import escaped
from clar_tune.report.renderers.layout import header, side_by_side
from clar_tune.report.texts import name

GOLDEN = ROOT / "tests" / "golden"
ENDINGS = {"table": "txt", "markdown": "md", "latex": "tex", "csv": "csv", "json": "json"}
HOSTILE = {
    "gcn+clar": '=<script>alert("1")</script>|`x`[bold]**y**\n\\textbf{z}%$&#_^~--{',
    "sage+clar": "@😀é\x1b[31m\u202eevil$x$<!--+" + 10_000 * "long",
    "simulated": "[red]run[/red] \\input{/etc/passwd} <b>&amp;",
}
OWN = {
    "gcn+clar": "my_package.my_models:MyGraphNetwork+clar",
    "gat+clar": "my_package.my_models:MyGraphNetwork+my_package.penalties:Smooth",
}

WIDE = """
description: all methods of the paper, no search
graphs: [actor, chameleon, squirrel, cornell, texas]
methods: [gcn, gat, sage, cheby, gpr, gcn+nl, gcn+preg, gcn+madreg, gcn+dropedge,
          gcn+clar, gat+clar, sage+clar]
protocol: balanced-60-20-20
paper: III
finals: 5
settings: {tuned: {regularizers: {clar: {alpha: 1, beta: 1}, nl: {alpha: 1}}}}
"""


def printed(form: str, *comparisons: Comparison, **options: Any) -> str:
    """As ``compare`` prints it, which calls the format of a terminal ``table``."""
    documents = list(map(document_of, comparisons))
    return render(documents, "terminal" if form == "table" else form, **options)


@cache
def plain() -> Comparison:
    # Not by tpe: what it proposes depends on the last digits, and those on the processor.
    return changed(compare([finished(sampler="random")]))


@cache
def wide() -> Comparison:
    return compare([finished(WIDE, failing)])


def hostile() -> Comparison:
    return changed(plain(), HOSTILE)


def swept() -> Comparison:
    """Rows are conditions, scores are errors."""
    found = plain()
    condition = "drop_edges=0.3,filter=band-rejection"
    return replace(
        found,
        rows=tuple(replace(row, condition=condition, metric="mse") for row in found.rows),
        scores=tuple(replace(score, condition=condition) for score in found.scores),
        contrasts=tuple(replace(c, condition=condition) for c in found.contrasts),
        effects=tuple(replace(e, condition=condition) for e in found.effects),
        backbones=tuple(replace(c, condition=condition) for c in found.backbones),
    )


@cache
def columns() -> Comparison:
    """Some conditions make columns."""
    return changed(table_of(DEPTH, deep))


@cache
def errors() -> Comparison:
    """Errors, with their ratios."""

    def score(method, condition, index):
        error = 0.5 if condition["filter"] == "high-pass" else 0.02
        return (error + 0.001 * index) * (0.9 if "+" in method else 1.0)

    return changed(table_of(ERRORS, score))


@cache
def spearman() -> Comparison:
    return changed(table_of(SENSITIVITY, rising))


@cache
def pearson() -> Comparison:
    return changed(table_of(SAMPLING, alike))


def long() -> Comparison:
    """Thirty conditions on each of three graphs."""
    found = plain()

    def under(records):
        return tuple(
            replace(record, condition=f"layers={layers}")
            for graph in dict.fromkeys(row.graph for row in found.rows)
            for layers in range(30)
            for record in records
            if record.graph == graph
        )

    return replace(
        found,
        rows=under(found.rows),
        scores=under(found.scores),
        contrasts=under(found.contrasts),
        effects=under(found.effects),
        backbones=under(found.backbones),
    )


def unfinished() -> Comparison:
    view = finished()
    studies = [replace(study, finals=(), winner=None) for study in view.studies]
    return compare([replace(view, studies=tuple(studies))])


def changed(record: Any, names: dict[str, str] | None = None) -> Any:
    """The same with other names, and with digits that are the same on every machine."""
    if isinstance(record, float):
        return round(record, 10)
    if isinstance(record, str):
        for old, new in (names or {}).items():
            record = record.replace(old, new)
        return record
    if isinstance(record, tuple):
        return tuple(changed(item, names) for item in record)
    if is_dataclass(record) and not isinstance(record, type):
        values = {field.name: getattr(record, field.name) for field in fields(record)}
        return replace(record, **{key: changed(value, names) for key, value in values.items()})
    return record


CASES = [("comparison", plain, form) for form in ENDINGS]
CASES += [("hostile", hostile, form) for form in ("table", "markdown", "latex")]
CASES += [("columns", columns, form) for form in ("table", "csv")]
CASES += [("errors", errors, form) for form in ("table", "markdown", "latex", "csv")]
CASES += [("spearman", spearman, form) for form in ("table", "markdown", "json")]
CASES += [("pearson", pearson, form) for form in ("table", "latex", "csv")]


@pytest.mark.parametrize(("stem", "made", "form"), CASES)
def test_golden(stem, made, form):
    file = GOLDEN / f"{stem}.{ENDINGS[form]}"
    text = printed(form, made())
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


# Numbers


def test_fractions_are_percent_and_errors_are_not():
    assert numbers.score(0.7234, "accuracy") == numbers.score(0.7234, "roc_auc") == "72.34"
    assert numbers.score(0.0123456, "mse") == "0.01235"
    assert numbers.gain(0.0123, "accuracy") == "+1.23"
    assert numbers.gain(-0.00001, "accuracy") == "+0.00"
    assert numbers.gain(-0.0123456, "mse") == "-0.0123"


def test_p_values_have_three_digits_or_a_bound():
    shown = [numbers.p_value(p) for p in (0.0307, 0.001, 0.00099, 0.0, 1.0, None)]
    assert shown == ["0.031", "0.001", "<0.001", "<0.001", "1.000", ""]


# The table


def lines_of(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def test_our_number_its_interval_and_the_papers_stand_below_each_other():
    lines = printed("table", plain()).splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("chameleon¹"))
    score, paper = plain().scores[0], 61.25
    assert lines[place].split()[1] == f"{100 * score.mean:.2f}"
    assert lines[place + 1].split()[0] == f"±{100 * score.half_width:.2f}"
    assert lines[place + 2].split()[:2] == ["paper", f"{paper:.2f}"]


def test_the_best_of_each_row_has_a_mark_and_is_bold():
    rows = [lines_of(printed("table", plain()), graph)[0] for graph in ("cham", "corn", "texas")]
    assert [row.count("*") for row in rows] == [1, 1, 1]
    # sage+clar, the last before the constant, is best
    assert all(row.split()[-2].rstrip("§").endswith("*") for row in rows)
    best = next(f"{100 * score.mean:.2f}*" for score in plain().scores if score.best)
    assert f"\x1b[1m{best}" in printed("table", plain(), styled=True)


def test_digits_stand_in_line_whatever_marks_follow():
    text = printed("table", plain())
    top = lines_of(text, "texas")[0]
    middle, paper = text.splitlines()[text.splitlines().index(top) + 1 :][:2]
    points = [[match.start() for match in re.finditer(r"\.", line)] for line in (top, middle)]
    *scores, _ = points[0]  # the constant has no interval
    assert scores == points[1] == [match.start() for match in re.finditer(r"\.", paper)]


def test_twelve_methods_fit_100_columns_in_one_block():
    text = printed("table", wide())
    assert max(map(cell_len, text.splitlines())) <= 100
    assert len(lines_of(text, "squirrel¹")) == 1


@pytest.mark.parametrize("width", [80, 100, 150])
@pytest.mark.parametrize("made", [wide, swept, hostile, lambda: changed(wide(), OWN)])
def test_nothing_is_wider_than_the_page_and_no_number_is_cut(made, width):
    comparison = made()
    text = printed("table", comparison, width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    metric = comparison.rows[0].metric
    for score in comparison.scores:
        assert numbers.score(score.mean, metric) in text
    for contrast in comparison.contrasts:
        assert numbers.gain(contrast.gain, metric) in text
    for effect in comparison.effects:
        assert numbers.gain(effect.effect, metric) in text
    words = "better|worse|equal|undecided|unused|at the floor|no result"
    judged = text.partition("Effect of the penalty")[2].partition("Over distinct graphs")[0]
    judged = judged.partition("Tuned gain")[0]
    assert len(re.findall(rf"\b(?:{words})\b", judged)) == len(comparison.effects)


def test_no_page_is_so_narrow_that_numbers_are_cut():
    assert printed("table", plain(), width=20) == printed("table", plain(), width=80)
    assert "…" not in printed("table", plain(), width=80)


@pytest.mark.parametrize("width", [80, 81, 90, 100, 200])
def test_methods_are_named_in_full_whatever_the_width(width):
    text = printed("table", plain(), width=width)
    standings = text.partition("Methods over all rows")[2].partition("best: rows")[0]
    numbers = [line.split() for line in standings.splitlines() if line.startswith("gcn+clar ")]
    whole = printed("table", plain(), width=200).partition("Methods over all rows")[2].splitlines()
    (wanted,) = (line.split() for line in whole if line.startswith("gcn+clar "))
    assert [cell for _, *cells in numbers for cell in cells] == wanted[1:]


def test_blocks_are_even_and_hold_every_column_once():
    assert side_by_side([10] * 12, 120) == [range(12)]
    assert side_by_side([10] * 12, 119) == [range(6), range(6, 12)]
    too_wide = [range(1), range(1, 2), range(2, 3)]
    assert side_by_side([10, 99, 10], 50) == too_wide
    assert side_by_side([30, 30, 10, 10, 10], 60) == [range(2), range(2, 5)], "never one more"


def test_names_are_broken_only_where_no_column_can_move_for_them():
    """Four wide columns would leave no room for the name, but the last one fits below."""
    widths = (16, 16, 16, 16, 4, 4, 4)
    columns = (Column("graph"), *(Column(f"c{n}", True) for n in range(len(widths))))
    cells = (Cell(text="csbm-homophily"), *(Cell(text="9" * width) for width in widths))
    table = Table(ident="t", title="A table", columns=columns, lines=(Line(cells),))
    text = render([Document((table,), stored={}, flat=table, origin={})], "terminal", width=80)
    assert [line.split()[0] for line in text.splitlines() if "9" in line] == ["csbm-homophily"] * 2


def test_names_of_methods_break_where_they_have_joints():
    assert header("gcn+dropedge", 10) == ("gcn", "+dropedge")
    assert header("my_pkg.models:MyGNN+clar", 10) == ("my_pkg.", "models:", "MyGNN", "+clar")
    assert header("abcdefgh", 3) == ("abc", "def", "gh")


def test_the_answer_is_the_first_thing_on_a_terminal():
    text = printed("table", plain())
    rule, headline, about, empty, box, *_ = text.splitlines()
    assert set(rule) == {"━"} and not empty
    own = [effect.verdict for effect in plain().effects if effect.regularizer == "clar"]
    counts = {word: own.count(word) for word in ("better", "worse", "equal") if word in own}
    assert headline.startswith(
        f"CLAR: effect decided in {sum(counts.values())} of {len(own)} cells"
    )
    assert all(
        f"{word} in {count}" in headline for word, count in counts.items() if word != "equal"
    )
    assert about.startswith("simulated: simulated, tuned settings")
    assert box.startswith("╭─ What can be concluded")
    told = text[: text.index("╰")]
    assert 1 <= told.count("•") <= 5 and "switching the penalty on changes accuracy" in told


def test_how_to_read_it_is_printed_on_demand():
    short = render([document_of(plain(), explain=False)], "terminal")
    assert "How to read it" not in short and "best: rows with the best mean" not in short
    assert "* best of its row" in short, "signs are explained where they stand"
    assert short.splitlines()[-1].startswith("--explain prints ")
    assert "How to read it" in printed("table", plain())
    for form in ("csv", "json"):
        assert render([document_of(plain(), explain=False)], form) == printed(form, plain())


def test_a_constant_stands_beside_all_scores_in_every_format():
    for form in ("table", "markdown", "latex"):
        text = printed(form, plain())
        assert "constant" in text and "22.00" in text and "55.00" in text
    assert {record["floor"] for record in records(plain()) if record["record"] == "score"} == {
        *("0.22", "0.55", "0.52")
    }
    odd = replace(plain().scores[0], above_floor=False)
    text = " ".join(printed("table", replace(plain(), scores=(odd, *plain().scores[1:]))).split())
    assert f"{100 * odd.mean:.2f}⊥" in text and "⊥ not above the constant answer" in text


def test_balanced_accuracy_stands_below_where_labels_shift():
    assert "  balanced acc." not in printed("table", plain())
    rows = tuple(replace(row, shift=0.3) for row in plain().rows)
    text = printed("table", replace(plain(), rows=rows))
    (line, *_) = (line for line in text.splitlines() if line.startswith("  balanced acc. "))
    assert f"{100 * plain().scores[0].balanced:.2f}" in line
    assert line.endswith(" 20.00"), "beside it what a constant answer has"


def test_the_page_has_label_shift_in_every_line_of_scores():
    tables = (block for block in document_of(plain()).blocks if isinstance(block, Table))
    (table,) = (block for block in tables if block.ident == "scores")
    (column,) = (n for n, own in enumerate(table.columns) if own.title == "shift")
    assert {line.cells[column].text for line in table.lines} == {"0.03"}


def test_marks_are_explained():
    odd = replace(plain().scores[0], used_up=True, full=False)
    off = replace(plain().scores[2], weightless=True)
    lines = printed("table", replace(plain(), scores=(odd, off, *plain().scores[1:])))
    text = " ".join(lines.split())
    assert f"{100 * odd.mean:.2f}†‡" in text
    for meaning in ("* best of", "† fewer trials", "‡ no trial had all repeats", "§ weight 0"):
        assert meaning in text
    assert "¶ beta 0: no complement, as in nl" in text
    assert "¹ leaky" in text and "² same nodes as texas" in text


def test_rows_of_different_metrics_say_which():
    first, *rest = plain().rows
    text = printed("table", replace(plain(), rows=(replace(first, metric="roc_auc"), *rest)))
    assert "accuracy in %" in text and "roc_auc in %" in text
    assert "chameleon¹,²" in text and "¹ roc_auc" in text and "² leaky" in text


def test_tests_across_graphs_are_printed_where_there_are_any():
    across = Across(
        graphs=tuple("abcdefgh"),
        methods=("gcn", "sage", "gcn+clar"),
        ranks=(2.5, 2.0, 1.5),
        friedman=0.0123,
        planned=(
            PairAcross(method="gcn+clar", against="gcn", p=0.0078, p_holm=0.0078, ahead="gcn"),
        ),
        pairs=(
            PairAcross(method="gcn", against="sage", p=0.2, p_holm=0.4),
            PairAcross(method="gcn", against="gcn+clar", p=0.0078, p_holm=0.0234),
        ),
        cliques=(("gcn+clar", "sage"),),
        reason="",
    )
    for form in ("table", "markdown", "latex"):
        text = printed(form, replace(plain(), across=across))
        assert "8 distinct graphs; Friedman: p = 0.012" in text
        assert re.search(r"gcn\+clar\W+gcn\W+0\.008\W+0\.008\W+gcn\b", text)
    clear = replace(plain(), across=replace(across, friedman=1e-9))
    assert "8 distinct graphs; Friedman: p < 0.001" in printed("table", clear)


# Hostile text


def test_a_terminal_shows_hostile_text_as_text():
    text = printed("table", hostile())
    assert "\x1b" not in text and "\u202e" not in text
    assert "[red]run[/red]" in text and "<script>" in text
    assert len(text) < 40_000  # 10,000 characters of a name are not printed again and again


def test_names_are_one_line_of_a_sane_length():
    assert name("a\nb\x1b\u202e\ud800") == "a\\nb\\x1b\\u202e\\ud800"
    assert len(name("x" * 10_000)) == 80
    assert name("a" * 60 + "b" * 60 + "+clar").endswith("b+clar")


@pytest.mark.parametrize("made", [plain, hostile, swept])
def test_markdown_has_tables_of_equal_columns_and_no_html(made):
    comparison = made()
    tokens = MarkdownIt("commonmark").enable("table").parse(printed("markdown", comparison))
    inline = [token for top in tokens for token in top.children or []]
    assert {token.type for token in inline} <= {
        *("text", "text_special", "softbreak", "strong_open", "strong_close"),
        *("em_open", "em_close"),
    }
    cells = rows_of(tokens)
    assert len(cells) == 7
    for rows in cells:
        assert len({len(row) for row in rows}) == 1
    assert cells[0][0][1:] == [
        *(name(method).strip() for method in comparison.methods),
        "constant",
    ]
    for table in (1, 3):  # effects, tuned gains
        methods = {row[1].rstrip("§¶") for row in cells[table][1:]}
        assert methods == {name(contrast.method) for contrast in comparison.contrasts}


def rows_of(tokens: list[Any]) -> list[list[list[str]]]:
    """The text of every cell, by table and row."""
    tables: list[list[list[str]]] = []
    for place, token in enumerate(tokens):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in ("th_open", "td_open"):
            tables[-1][-1].append("".join(c.content for c in tokens[place + 1].children))
    return tables


def test_markdown_keeps_a_line_from_beginning_a_list():
    text = printed("markdown", replace(plain(), conclusions=("- 1", "+ 2", "3. 4", "# 5", "> 6")))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert sum(token.type == "bullet_list_open" for token in tokens) == 3
    assert not any(token.type in ("ordered_list_open", "blockquote_open") for token in tokens)


# `make check` compiles the golden documents, where there is a TeX.


def test_latex_has_no_sign_that_pdflatex_cannot_set():
    text = printed("latex", hostile())
    assert not set(text) - set(map(chr, range(32, 127))) - set("\né")
    assert "{[}U+1F600{]}" in text
    grouping = re.sub(r"\\\\|\\[{}]", "", text)  # without ends of lines and signs
    assert grouping.count("{") == grouping.count("}")
    assert text.count("\\documentclass") == text.count("\\begin{document}") == 1
    assert not re.search(r"(?<!\\textbackslash\{\})\\input", text)


def test_latex_escapes_every_special_sign():
    assert escaped(r"\%&#_{}$~^") == (
        r"\textbackslash{}\%\&\#\_\{\}\$\textasciitilde{}\textasciicircum{}"
    )
    assert escaped("--finals -1.5 a-b [x] 50 ± 1") == "-{}-finals $-$1.5 a-b {[}x{]} 50 $\\pm$ 1"


def test_latex_puts_rows_into_booktabs():
    text = printed("latex", plain())
    for rule in ("\\toprule", "\\midrule", "\\bottomrule"):
        assert text.count(rule) == text.count("\\begin{longtable}") == 7
    score = next(score for score in plain().scores if score.best)
    assert f"\\textbf{{{100 * score.mean:.2f}}} $\\pm$ {100 * score.half_width:.2f}" in text


# Data


def records(*comparisons: Comparison) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed("csv", *comparisons))))


def test_csv_has_every_score_and_every_rival_in_full_precision():
    found = records(plain())
    scores = [record for record in found if record["record"] == "score"]
    assert [float(record["mean"]) for record in scores] == [s.mean for s in plain().scores]
    gains = {(r["graph"], r["method"], r["against"]): r["gain"] for r in found if r["gain"]}
    compared = (*plain().contrasts, *plain().backbones)
    assert gains == {(c.graph, c.method, c.against): str(c.gain) for c in compared}
    effects = [record for record in found if record["record"] == "effect"]
    assert [(r["graph"], r["method"], r["effect"], r["verdict"]) for r in effects] == [
        (e.graph, e.method, str(e.effect), e.verdict) for e in plain().effects
    ]
    rivals = [record for record in found if record["record"] == "rival"]
    assert len(rivals) == sum(c.rival for c in plain().contrasts) > 0
    assert {record["mean"] for record in rivals} == {""}  # no score is counted twice
    assert {record["best"] for record in scores} == {"true", "false"}


def test_csv_keeps_a_spreadsheet_from_calculating():
    found = records(hostile())
    methods = {record["method"] for record in found}
    assert {f"'{HOSTILE['gcn+clar']}", f"'{HOSTILE['sage+clar']}"} <= methods
    assert any(record["gain"].startswith("-0.") for record in found)  # numbers stay numbers
    assert {len(record) for record in found} == {len(found[0])}


def test_json_holds_the_whole_comparison():
    whole = json.loads(printed("json", hostile()))
    assert whole["format"] == 1
    (found,) = whole["comparisons"]
    assert set(found) == {field.name for field in fields(Comparison)}
    assert found["methods"] == list(hostile().methods)
    assert found["scores"][0]["budget"]["trials"] == plain().scores[0].budget.trials


def test_json_has_null_for_what_is_not_a_number():
    odd = replace(plain().scores[0], mean=math.nan, half_width=math.inf)
    found = json.loads(printed("json", replace(plain(), scores=(odd,))))["comparisons"][0]
    assert (found["scores"][0]["mean"], found["scores"][0]["half"]) == (None, None)


def test_several_comparisons_share_one_header_one_document_one_list():
    both = plain(), replace(plain(), settings="paper")
    assert len(records(*both)) == 2 * len(records(plain()))
    assert {record["settings"] for record in records(*both)} == {"tuned", "paper"}
    assert printed("latex", *both).count("\\documentclass") == 1
    assert len(json.loads(printed("json", *both))["comparisons"]) == 2
    for form in ("table", "markdown"):
        text = printed(form, *both)
        assert "tuned settings" in text and "paper settings" in text


def test_a_run_without_finals_is_one_sentence_or_no_data():
    found = unfinished()
    sentence = "simulated: no winner has finals yet.\n"
    assert printed("table", found) == printed("markdown", found) == sentence
    assert sentence.strip() in printed("latex", found)
    assert printed("csv", found).count("\n") == 1
    assert json.loads(printed("json", found))["comparisons"][0]["scores"] == []


# Conditions, errors, correlations


def test_a_column_is_named_in_short_lines():
    assert header("gcn+clar clamp=10", 12) == ("gcn", "+clar", "clamp=10")
    assert header("gcn+clar sampling=node", 12) == ("gcn", "+clar", "sampling=", "node")
    assert header("gcn scale=0.5", 12) == ("gcn", "scale=0.5")


def test_ratios_stand_below_errors_and_the_papers_below_them():
    lines = printed("table", errors()).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("chameleon (filter=high"))
    assert lines[place].split()[-3:] == ["0.5020", "0.4518*", "1.000"]
    assert lines[place + 2].split() == ["ratio", "to", "plain", "0.9000"]
    assert lines[place + 3].split() == ["paper's", "ratio", "0.9970"]
    assert "41.6" not in printed("table", errors())  # the paper's scale is unknown


def test_lower_is_better_and_no_held_out_nodes_are_told():
    text = printed("table", errors())
    assert "Training mse (lower is better)" in text
    assert "¹ no held-out nodes" in text and "No held-out nodes: all nodes train" in text


def test_coefficients_stand_above_the_scores_with_their_intervals():
    text = printed("table", spearman())
    assert text.index("Spearman's coefficient of samples") < text.index("Test accuracy in %")
    found = spearman().correlations[0]
    line = next(line for line in text.splitlines() if line.startswith("cora  "))
    assert line.split()[:6] == [
        *("cora", "gcn+clar", f"{found.coefficient:+.3f}"),
        *(f"{found.low:+.3f}", "to", f"{found.high:+.3f}"),
    ]
    assert "-0.059" in line


def test_correlations_are_records_of_csv_and_json():
    rows = list(csv.DictReader(io.StringIO(printed("csv", pearson()))))
    found = [row for row in rows if row["record"] == "correlation"]
    assert [row["values"] for row in found[:3]] == ["node edge", "node any", "edge any"]
    assert float(found[0]["coefficient"]) == pearson().correlations[0].coefficient
    assert (found[0]["identical"], found[0]["pairs"], found[0]["method"]) == ("5", "6", "gcn+clar")
    whole = json.loads(printed("json", pearson()))["comparisons"][0]
    assert len(whole["correlations"][0]["points"]) == 6


def test_csv_has_method_and_column_apart():
    rows = list(csv.DictReader(io.StringIO(printed("csv", columns()))))
    places = {(row["method"], row["column"], row["condition"]) for row in rows}
    assert ("gcn+clar", "clamp=10", "layers=8") in places
    assert ("gcn", "", "layers=8") in places


def test_a_long_table_is_an_excerpt_in_a_terminal_only():
    text = printed("table", long())
    # scores, and backbones
    assert text.count("Excerpt: 15 of 90 lines, the first of every graph.") == 2
    for graph in ("chameleon", "cornell", "texas"):
        assert f"{graph} (layers=4)" in text and f"{graph} (layers=5)" not in text
    for form in ("markdown", "latex", "csv", "json"):
        assert "Excerpt" not in printed(form, long())
        assert printed(form, long()).count("layers=29") >= 3


@pytest.mark.parametrize("made", [columns, errors, spearman, pearson, long])
@pytest.mark.parametrize("width", [80, 100])
def test_sweeps_fit_the_page(made, width):
    assert max(map(cell_len, printed("table", made(), width=width).splitlines())) <= width
