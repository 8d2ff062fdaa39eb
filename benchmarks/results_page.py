"""Bring the pages of results and the README up to date: what commands print, and the figures.

A command that reads docs/results stands either at the head of a ``console`` block, which holds its
output, or alone in an ``sh`` block before a part marked ``<!-- output -->``, whose Markdown it
prints. Both are replaced; all else, and what other commands printed, stays.
"""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
from click.testing import CliRunner

from clar_tune.analysis import compare, read_run
from clar_tune.cli import main as clar_tune
from clar_tune.report import Figure, drawn, of_comparison
from clar_tune.store import Store

ROOT = Path(__file__).parent.parent
PAGE, README = ROOT / "docs" / "RESULTS.md", ROOT / "README.md"
TABLES = ROOT / "docs" / "RESULTS_TABLES.md"
"""Tables that are too long for the page."""
STORE = "docs/results"
FIGURES = ROOT / "docs" / "figures"
SHOWN = re.compile(r"!\[[^]]*\]\(figures/([\w-]+)\.(\w+)\.svg\)")
"""Figures of the page: ``RUN.NAME.svg``, of several runs ``RUN-and-RUN.NAME.svg``."""

_READS = rf"clar-tune (?:compare|query) --store {STORE}\b.*"
_CONSOLE = re.compile(rf"(```console\n\$ )({_READS})\n(?s:.*?)(?=```)")
_MARKDOWN = re.compile(
    rf"(```sh\n)({_READS})(\n```\n\n<!-- output -->\n)(?s:.*?)(?=<!-- end of output -->)"
)


def commands(page: str) -> list[str]:
    """The commands whose output on the page is replaced."""
    return [found[2] for kind in (_CONSOLE, _MARKDOWN) for found in kind.finditer(page)]


def refreshed(page: str) -> str:
    """The page with what its commands print now."""
    page = _CONSOLE.sub(lambda found: f"{found[1]}{found[2]}\n{_printed(found[2])}", page)
    return _MARKDOWN.sub(
        lambda found: f"{found[1]}{found[2]}{found[3]}\n{_lowered(_printed(found[2]))}\n", page
    )


@cache
def _printed(command: str) -> str:
    """What a command prints, without spaces at the ends of lines."""
    done = CliRunner().invoke(clar_tune, shlex.split(command)[1:])
    if done.exit_code != 0:
        raise click.ClickException(f"{command}\n{done.output}")
    return "\n".join(line.rstrip() for line in done.output.splitlines()).strip("\n") + "\n"


def _lowered(markdown: str) -> str:
    """Headings two levels lower: the page has a title and sections of its own."""
    return re.sub(r"^#", "###", markdown, flags=re.MULTILINE)


def figures(page: str) -> Iterator[tuple[str, Figure]]:
    """The figures that a page shows, by the names of their files."""
    wanted: dict[str, set[str]] = {}
    for runs, name in SHOWN.findall(page):
        wanted.setdefault(runs, set()).add(name)
    store = Store.open(STORE)
    for runs, names in wanted.items():
        views = [read_run(store, run, curves=True) for run in runs.split("-and-")]
        found = {figure.name: figure for figure in of_comparison(compare(views), views)}
        yield from ((f"{runs}.{name}.svg", found[name]) for name in sorted(names))


@click.command()
def main() -> None:
    """Rewrite all pages and the figures; start it at the top of the project."""
    for page in (PAGE, TABLES, README):
        page.write_text(refreshed(page.read_text()))
    FIGURES.mkdir(exist_ok=True)
    for name, figure in figures(PAGE.read_text()):
        (FIGURES / name).write_text(drawn(figure))


if __name__ == "__main__":
    main()
