"""What the commands print about the stores of the documentation, in every format."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from clar_tune.cli import main

ROOT = Path(__file__).parents[2]
STORES = ("docs/results", "docs/reproducing")
FORMATS = ("table", "markdown", "latex", "csv", "json")
SOME = 10
"""About how many winners of a run are looked at."""
DRAWN = ("heterophily", "filters", "sensitivity", "frequency")
"""Runs whose figures are written as files too."""
LIBRARY = 100_000
"""Characters from which on a script of a page is a library and not data."""

QUERIES = {
    "finals": "SELECT run, graph, method, condition, count(*) n, avg(test_score) mean "
    "FROM finals GROUP BY ALL ORDER BY ALL",
    "trials": "SELECT run, state, count(*) n, sum(repeats) repeats FROM trials "
    "GROUP BY ALL ORDER BY ALL",
    "runs": "SELECT run, space, settings, state, seed, numbers, studies, budget FROM runs "
    "ORDER BY run",
    "repeats": "DESCRIBE repeats",
}


def printed(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of every output; files are written to ``folder``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COLUMNS", raising=False)
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("CLAR_TUNE_STORE", raising=False)
        for store in STORES:
            patch.chdir(ROOT)
            yield from _of_store(store, folder)
        for settings in ("tuned", "paper"):
            for space in sorted((ROOT / "search_spaces").glob("*.yaml")):
                words = ["spaces", "show", space.stem, "--settings", settings]
                if f"\n  {settings}:" in space.read_text():
                    yield _named(words), _text(words)
        for words in (["spaces"], ["spaces", "--json"]):
            yield _named(words), _text(words)


def _of_store(store: str, folder: Path) -> Iterator[tuple[str, str]]:
    at = ["--store", store]
    runs = [run["run"] for run in json.loads(_text(["runs", "--json", *at]))]
    commands = [["runs"], ["runs", "--json"]]
    for run in runs:
        commands += [["show", run], ["show", run, "--json"]]
        commands += [["compare", "--run", run, "--format", form] for form in FORMATS]
    for space in ("heterophily", "homophily", "planetoid"):
        if space in runs:
            commands += [["compare", "--space", space, "--format", form] for form in FORMATS]
    if "homophily" in runs:
        both = ["compare", "--run", "heterophily", "--run", "homophily", "--format"]
        commands += [[*both, form] for form in FORMATS]
    for text in QUERIES.values():
        commands += [["query", text, "--format", form] for form in ("table", "csv", "json")]
    for words in commands:
        yield f"{store}/{_named(words)}", _text([*words, *at])
    for run in runs:
        studies = json.loads(_text(["show", run, "--json", *at]))["studies"]
        chosen = studies[:: max(1, len(studies) // SOME)]
        yield f"{store}/best of {run}", "".join(_best(run, study, at) for study in chosen)
        yield from _report(store, run, folder)


def _best(run: str, study: dict[str, str], at: list[str]) -> str:
    which = [f"--{name}={study[name]}" for name in ("graph", "method", "condition")]
    return _text(["best", "--run", run, *which, *at], fails=True)


def _report(store: str, run: str, folder: Path) -> Iterator[tuple[str, str]]:
    page, figures = folder / f"{run}.html", folder / f"{run}-figures"
    drawn = ["--figures", str(figures)] if run in DRAWN else []
    _text(["report", "--run", run, "--out", str(page), *drawn, "--store", store])
    yield f"{store}/report of {run}.html", _stable(page.read_text())
    for file in sorted(figures.glob("*.csv")):
        yield f"{store}/figures of {run}/{file.name}", _sorted_rows(file.read_text())


def _stable(page: str) -> str:
    """A page without the code of others that it carries, and without the time."""

    def kept(script: re.Match[str]) -> str:
        return script[0] if len(script[0]) < LIBRARY or "{" in script[1] else "<script>…</script>"

    page = re.sub(r"<script([^>]*)>.*?</script>", kept, page, flags=re.DOTALL)
    return re.sub(r"(Made by clar-tune \S+) on [^.]+ UTC", r"\1", page)


def _sorted_rows(text: str) -> str:
    return "\n".join(",".join(row) for row in csv.reader(io.StringIO(text)))


def _text(words: list[str], *, fails: bool = False) -> str:
    done = CliRunner().invoke(main, words)
    assert fails or done.exit_code == 0, f"{words}: {done.output}"
    return f"{done.stdout}{done.stderr}"


def _named(words: list[str]) -> str:
    return " ".join(words).replace("/", "⁄")
