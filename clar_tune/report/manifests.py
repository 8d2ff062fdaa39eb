"""Who made the numbers: the head of the page and the manifest of every run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clar_tune.analysis import RunView, duration, finals_told, repeats_told
from clar_tune.report.texts import moment, name, sentence, setting
from clar_tune.rows import PlannedStudy

STATES = {
    "running": "running",
    "paused": "paused by its time budget",
    "interrupted": "interrupted",
    "finished": "finished",
    "incomplete": "ended, but some study has no winner or finals",
}

_DESCRIPTION = re.compile(
    r"""^description: *(?P<quote>["']?)(?P<text>[^|>\s].*?)(?P=quote) *$""", re.M
)

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of the page."""

    title: str
    description: str
    states: tuple[tuple[str, str], ...]
    """Each state of a run that occurs, and its text."""
    facts: Pairs


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that a run wrote down about itself."""

    title: str
    groups: tuple[tuple[str, Pairs], ...]
    space_text: str


def head_of(runs: Sequence[RunView]) -> Head:
    """What the page is about, in a few words."""
    rows = [run.row for run in runs]
    states = dict.fromkeys(row.state for row in rows)
    return Head(
        title=" + ".join(name(run.name) for run in runs),
        description=_description(runs[0]) if len({row.space for row in rows}) == 1 else "",
        states=tuple((state, STATES.get(state, name(state))) for state in states),
        facts=tuple(_facts(runs)),
    )


def manifest_of(run: RunView) -> Manifest:
    """Everything, in groups."""
    row = run.row
    about = {
        "run": run.name,
        "state": STATES.get(row.state, row.state),
        "space": row.space,
        "settings": row.settings,
        "protocol": row.protocol,
        "started": moment(row.started),
        "ended": moment(row.ended) if row.ended else "not yet",
        "time of work": _worked([run]),
        "seed": row.seed,
        "version of the numbers": row.numbers,
    }
    groups: dict[str, Mapping[str, Any]] = {
        "Run": about,
        "Budget of every study": run.budget,
        "Options of the command": _given(run.options),
        "Versions": row.versions,
        "Machine": row.machine,
        "Content of the graphs": row.graph_hashes,
    }
    return Manifest(
        title=name(run.name),
        groups=tuple((title, _pairs(values)) for title, values in groups.items() if values),
        space_text=row.space_text,
    )


def _facts(runs: Sequence[RunView]) -> Iterator[tuple[str, str]]:
    first = runs[0].row
    spaces = dict.fromkeys(name(run.row.space) for run in runs)
    yield "space", f"{', '.join(spaces)}, {name(first.settings)} settings"
    yield "protocol", ", ".join(dict.fromkeys(name(run.row.protocol) for run in runs))
    started = min(run.row.started for run in runs)
    ended = [run.row.ended for run in runs if run.row.ended]
    until = f" to {moment(max(ended))}" if len(ended) == len(runs) else ""
    yield "when", f"{moment(started)}{until}, {_worked(runs)}"
    yield "budget", _budget(runs[0].budget, [study for run in runs for study in run.row.planned])


def _worked(runs: Sequence[RunView]) -> str:
    """How long drivers worked; only trainings tell it of a run whose driver has not ended."""
    if any(run.row.state == "running" for run in runs):
        trained = sum(study.seconds for run in runs for study in run.studies)
        return f"{duration(trained)} of training so far"
    return f"{duration(sum(run.row.seconds for run in runs))} of work"


def _budget(budget: Mapping[str, Any], planned: Sequence[PlannedStudy]) -> str:
    pruning = f"pruned by {budget['reduction']}" if budget["pruning"] else "not pruned"
    searches = f", {budget['searches']} searches" if budget["searches"] > 1 else ""
    usual, others = repeats_told(budget, planned)
    return (
        f"{budget['trials']} trials by {name(budget['sampler'])}, {usual} repeats {pruning}"
        f"{sentence(others)}, {finals_told(budget)} per study{searches}"
    )


def _description(run: RunView) -> str:
    """What the space says of itself; parsing all of it might import a user's models."""
    found = _DESCRIPTION.search(run.row.space_text)
    return sentence(found["text"]) if found else ""


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _pairs(values: Mapping[str, Any]) -> Pairs:
    return tuple((str(key), _shown(value)) for key, value in values.items())


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(of)}" for key, of in value.items())
    return setting(value)
