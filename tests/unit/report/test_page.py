"""The page of a report, without a browser."""

import base64
import hashlib
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.hostile import CLOSING, ERROR, METHOD, SCRIPT, hostile
from support.large_run import large
from support.parsed_page import Parsed
from support.results import finished, simulated, stored

from clar_tune.analysis import duration
from clar_tune.analysis.comparison import compare
from clar_tune.analysis.runs import RunView
from clar_tune.cli.report import report
from clar_tune.errors import ClarTuneError
from clar_tune.report import build_page
from clar_tune.report.embedding import checked, json_text
from clar_tune.report.failures import failures_of
from clar_tune.report.page import PageBuilder
from clar_tune.store import Store


@cache
def run() -> RunView:
    return finished()


@cache
def page() -> Parsed:
    return Parsed(build_page([run()]))


def test_the_page_tells_what_the_comparison_says():
    found, text = compare([run()]), page().text
    for sentence in (*found.conclusions, *found.caption):
        assert sentence in text
    for score in found.scores:
        assert f"{100 * score.mean:.2f}" in text
    assert "What follows from it" in text
    assert text.index(found.conclusions[0]) < text.index("Mean test score")


def test_the_page_loads_nothing():
    for tag, given in page().tags:
        assert not given.keys() & {"src", "srcset", "action", "data"}, tag
        assert (given.get("href") or "#").startswith(("#", "data:image/svg+xml,")), tag
    assert "url(" not in "".join(page().styles) and "@import" not in "".join(page().styles)


def test_only_scripts_and_styles_with_their_hash_in_the_policy_run():
    allowed = set(re.findall(r"'sha256-([^']+)'", page().policy))
    texts = [*page().scripts, *page().styles]
    assert len(texts) == 3
    hashes = {base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in texts}
    assert hashes == allowed
    assert "unsafe" not in page().policy and "default-src 'none'" in page().policy
    assert "connect-src 'none'" in page().policy


def test_no_attribute_runs_or_styles_anything():
    for tag, given in page().tags:
        assert not [name for name in given if name.startswith("on") or name == "style"], tag


def test_data_can_stand_in_a_script_and_read_the_same():
    hard = {"</script>": ["<!--", "&lt;", "\u2028\u2029", "é🧪", None, 1.5]}
    text = json_text(hard)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == hard


def test_a_script_that_would_end_itself_is_refused():
    with pytest.raises(ValueError, match="would end it"):
        checked("let a = '</SCRIPT>'")


def test_trials_that_several_figures_show_are_stored_once():
    blocks = {key: json.loads(text) for key, text in page().data.items() if "study-" in key}
    assert len(blocks) == len(run().studies)
    for block in blocks.values():
        shared = {figure["rows"] for figure in block["figures"] if figure["kind"] != "importance"}
        assert shared == {0} and len(block["tables"]) <= 2
        assert len(block["tables"][0]["rows"]) == len(block["trials"]["rows"])


def test_every_figure_has_a_text_and_a_label():
    data = json.loads(page().data["figure-data"])
    kinds = {figure["kind"] for figure in data["figures"]}
    assert {"gains", "ranks", "paper", "expected", "penalty", "budget"} <= kinds
    for figure in data["figures"]:
        assert " ".join(figure["text"].split()) in page().text
    drawings = [given for tag, given in page().tags if given.get("role") == "img"]
    titles = [figure["title"] for figure in data["figures"]]
    assert sorted(given["aria-label"] or "" for given in drawings) == sorted(titles)


def test_tables_name_their_columns_and_lines():
    assert len(page().attribute("table", "id")) == [tag for tag, _ in page().tags].count("caption")
    for tag, given in page().tags:
        assert tag != "th" or given.get("scope") in ("row", "col")


def test_names_in_the_page_are_unique():
    idents = [given["id"] for _, given in page().tags if "id" in given]
    assert len(idents) == len(set(idents))


def test_hostile_texts_are_text():
    parsed = Parsed(build_page([hostile()]))
    assert len(parsed.scripts) == 2
    assert not parsed.attribute("img", "src")
    assert SCRIPT in parsed.text and CLOSING in parsed.text and "{{7*7}}" in parsed.text
    assert "".join(ERROR.split()) in "".join("".join(parsed.texts).split())
    for text in parsed.data.values():
        json.loads(text)
    tables = json.loads(parsed.data["figure-data"])["tables"]
    assert any(METHOD in row for table in tables for row in table["rows"])


def test_half_a_character_does_not_stop_a_page():
    build_page([replace(run(), name="a\ud800b")]).encode()


def test_equal_failures_stand_together():
    (first, *_), count = failures_of([run()]).troubles, failures_of([run()]).failed
    assert count == sum(study.count("failed") for study in run().studies) > 0
    assert first.head == "loss is NaN in epoch 3" and not first.text
    assert len(first.trials) == max(study.count("failed") for study in run().studies)


def test_a_page_shows_so_many_failures_and_counts_the_rest():
    found = failures_of([large()])
    assert len(found.troubles) == 300
    assert found.left_out == found.failed - 300


def test_a_run_without_any_study_has_a_page():
    row, _ = simulated()
    text = Parsed(build_page([RunView("begun", replace(row, state="running"), ())])).text
    assert "No finals yet for 18 of 18 studies" in text
    assert "0 of 18 studies confirmed" in text


def test_a_run_under_way_shows_its_progress_and_a_finished_one_does_not():
    half = replace(run(), row=replace(run().row, state="running"), studies=run().studies[:7])
    text = Parsed(build_page([half])).text
    assert "7 of 18 studies confirmed" in text and "Best so far" in text
    assert "Best so far" not in page().text


def test_runs_are_joined_into_one_page():
    first, second = (finished(graphs=(graph,)) for graph in ("chameleon", "texas"))
    text = Parsed(build_page([replace(first, name="one"), replace(second, name="two")])).text
    assert "one + two" in text and "chameleon" in text and "texas" in text


def test_a_study_that_did_not_change_is_not_made_again(monkeypatch: pytest.MonkeyPatch):
    builder = PageBuilder()
    first = builder.build([run()])
    monkeypatch.setattr("clar_tune.report.page.study_data", lambda *_: pytest.fail("made again"))
    assert builder.build([run()]).studies == first.studies


def test_a_large_report_is_quick_and_small():
    view = large()
    assert len(view.studies) == 100 and sum(len(s.trials) for s in view.studies) == 10_000
    started = time.process_time()
    size = len(build_page([view]).encode())
    assert time.process_time() - started < 20
    assert size < 15e6


def test_spans_are_readable():
    assert [duration(s) for s in (8, 125, 12_000, 300_000)] == [
        "8 s",
        "2 min 05 s",
        "3 h 20 min",
        "3 d 11 h",
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    rows = simulated(graphs=("texas",), methods=("gcn", "gcn+clar"))
    return stored(tmp_path_factory.mktemp("report") / "store", *rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def called(store: Store, *words: str) -> Result:
    return CliRunner().invoke(report, [*words, "--store", store.url])


def test_the_command_writes_a_file_and_prints_its_path(store: Store, folder: Path):
    done = called(store)
    assert (done.exit_code, done.stdout) == (0, "report.html\n")
    assert [file.name for file in folder.iterdir()] == ["report.html"]
    assert "What follows from it" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_link_stays_a_link(store: Store, folder: Path):
    (folder / "real.html").write_text("old")
    (folder / "link.html").symlink_to("real.html")
    assert called(store, "--out", "link.html").exit_code == 0
    assert (folder / "link.html").is_symlink()
    assert "What follows" in (folder / "real.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--out", "."), "is a folder"),
        (("--out", "none/report.html"), "there is no folder none"),
        (("--out", "/dev/null"), "is no file"),
        (("--figures", "taken"), "is a file"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(
    store: Store,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    problem: str,
):
    monkeypatch.setattr("clar_tune.report.build_page", lambda _: pytest.fail("worked in vain"))
    (folder / "taken").write_text("mine")
    done = called(store, *words)
    assert isinstance(done.exception, ClarTuneError) and problem in str(done.exception)
    assert [file.name for file in folder.iterdir()] == ["taken"]


@pytest.mark.parametrize("words", [("--port", "80"), ("--live", "--out", "x"), ("--host", "::1")])
def test_options_that_would_do_nothing_are_refused(store: Store, words: tuple[str, ...]):
    done = called(store, *words)
    assert done.exit_code == 2 and "does nothing" in done.stderr


def test_an_unknown_run_is_refused(store: Store, folder: Path):
    done = called(store, "--run", "other")
    assert isinstance(done.exception, ClarTuneError) and "'other'" in str(done.exception)


def test_figures_are_written_with_their_data(store: Store, folder: Path):
    done = called(store, "--figures", "figures")
    assert done.stdout == "report.html\nfigures\n"
    names = {file.name for file in (folder / "figures").iterdir()}
    for stem in ("gains", "budget", "texas-gcn-clar-history", "texas-gcn-clar-map"):
        assert {f"{stem}.svg", f"{stem}.png", f"{stem}.csv"} <= names
