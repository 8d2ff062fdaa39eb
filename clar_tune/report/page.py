"""The page: a comparison, its figures and its studies as one HTML file."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from markupsafe import Markup

from clar_tune.analysis import RunView, StudyView, compare
from clar_tune.report import figures
from clar_tune.report.builders.studies import is_searched, key_of, studies_in
from clar_tune.report.content import context_of
from clar_tune.report.embedding import checked, json_block, json_text, policy, script_block
from clar_tune.report.figure_data import figures_data
from clar_tune.report.progress import Liveness
from clar_tune.report.renderers.html import FILES, templates
from clar_tune.report.study_data import study_data
from clar_tune.report.texts import moment
from clar_tune.version import __version__

SCRIPTS = ("records", "theme", "filters", "tables", "figures", "explorer", "live", "start")
"""Our scripts, in the order in which they stand in the page."""


@dataclass(frozen=True, slots=True)
class Built:
    """A page, and its parts for a server that refreshes it."""

    page: str
    content: str
    """What a refresh replaces."""
    studies: Mapping[str, str]
    """Data of each study as JSON, by key."""

    @property
    def version(self) -> str:
        """Changes with the content or the data of a study."""
        return _digest(self.content)


def build_page(runs: Sequence[RunView], *, live: bool = False) -> str:
    """One self-contained HTML file about one run, or about several that can be joined."""
    return PageBuilder(live=live).build(runs).page


class PageBuilder:
    """Builds pages; data of studies that did not change are made once."""

    def __init__(self, *, live: bool = False) -> None:
        self._live = live
        self._known: dict[str, tuple[object, str]] = {}

    def build(
        self, runs: Sequence[RunView], liveness: Mapping[str, Liveness] | None = None
    ) -> Built:
        """The page as of now; ``liveness`` is what an observer knows of runs under way."""
        studies = {
            key_of(run, study): self._study(run, study)
            for run, study in studies_in(runs)
            if is_searched(study)
        }
        comparison = compare(runs)
        drawn = figures.of_comparison(comparison, runs)
        versions = {key: _digest(text) for key, text in studies.items()}
        context = context_of(runs, comparison, drawn, versions, liveness or {}, live=self._live)
        context["figure_data"] = json_block("figure-data", json_text(figures_data(drawn)))
        content = _sound(templates().get_template("content.html").render(context))
        return Built(_sound(_page(context, content, studies)), content, studies)

    def _study(self, run: RunView, study: StudyView) -> str:
        key, state = key_of(run, study), _state(study)
        if self._known.get(key, (None, ""))[0] != state:
            self._known[key] = state, _sound(json_text(study_data(run, study)))
        return self._known[key][1]


def _page(context: Mapping[str, Any], content: str, studies: Mapping[str, str]) -> str:
    live = context["live"]
    style, scripts = checked(_read("page.css")), (checked(figures.vega_script()), _our_script())
    blocks = [] if live else [json_block(f"study-{key}", text) for key, text in studies.items()]
    themes = json_text({"light": figures.LIGHT, "dark": figures.DARK})
    page = templates().get_template("page.html")
    return page.render(
        context,
        content=Markup(content),
        policy=policy(scripts, [style], live=live),
        style=Markup(style),
        scripts=[script_block(script) for script in scripts],
        blocks=[json_block("themes", themes), *blocks],
        version=_digest(content),
        made=moment(datetime.now(UTC)),
        program=__version__,
    )


def _state(study: StudyView) -> object:
    """Equal for equal studies."""
    return study.trials, study.finals_done, study.winner, study.planned


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _sound(text: str) -> str:
    """Half characters, which no file can hold, become question marks."""
    return text.encode("utf-8", "replace").decode()


@cache
def _our_script() -> str:
    parts = "\n".join(_read(f"{script}.js") for script in SCRIPTS)
    return checked(f'(() => {{\n"use strict";\n{parts}\n}})();')


@cache
def _read(file: str) -> str:
    return (FILES / file).read_text(encoding="utf-8")
