"""The studies of a report: which there are, how far each came, and what won."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence

from clar_tune.analysis import RunView, StudyView
from clar_tune.report import numbers
from clar_tune.report.blocks import PAGE, Cell, Column, Table
from clar_tune.report.builders.fields import Field, count, listing, number, span, table_of, words
from clar_tune.report.figures.places import place_of
from clar_tune.report.texts import name, place, setting

Found = tuple[RunView, StudyView]


def studies_in(runs: Sequence[RunView]) -> list[Found]:
    """All studies with their runs, in the order in which they began."""
    return [(run, study) for run in runs for study in run.studies]


def key_of(run: RunView, study: StudyView) -> str:
    """Names a study in the page, however many others there are."""
    place = run.name, study.graph, study.method, study.condition, study.search
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()[:12]


def title_of(study: StudyView) -> str:
    """A study as people call it."""
    number = f", search {study.search}" if study.search else ""
    return f"{name(study.method)} on {place(study.graph, study.condition)}{number}"


def label_of(run: RunView, study: StudyView) -> str:
    """The column of a study in the comparison, by which the page filters."""
    return place_of(run, study)[2]


def search_of(study: StudyView) -> Cell:
    """The number of its search, where searches were repeated."""
    return Cell(study.search, str(study.search) if study.search else "")


def is_searched(study: StudyView) -> bool:
    """Whether there is a search to look at: some studies go straight to their finals."""
    return study.asked > 1 or study.repeats > 0


_HELP = {
    "search": "Number of the search, where searches were repeated",
    "trials": "Configurations that ended, of those asked for",
    "repeats": "Trainings of the search",
    "validation": "Mean validation score of the winner",
    "finals": "Trainings of the winner, of those asked for",
}


def _told(title: str, cell: Callable[[StudyView], Cell]) -> Field[Found]:
    return number(title, lambda found: cell(found[1]))


def _state(state: str) -> Field[Found]:
    return count(state, lambda found: found[1].count(state))


def studies_table(runs: Sequence[RunView]) -> Table:
    """One line per study."""
    fields: tuple[Field[Found], ...] = (
        words("run", lambda found: found[0].name if len(runs) > 1 else ""),
        words("graph", lambda found: found[1].graph),
        words("condition", lambda found: found[1].condition),
        words("method", lambda found: found[1].method),
        _told("search", search_of),
        _told("trials", _trials),
        *map(_state, ("complete", "pruned", "failed")),
        count("repeats", lambda found: found[1].repeats),
        _told("validation", _validation),
        _told("finals", lambda s: Cell(len(s.finals), f"{len(s.finals)}/{s.finals_asked}")),
        _told("time", lambda s: span(s.seconds)),
        Field(Column("winning parameters"), lambda found: _winner(found[1])),
    )
    return table_of(
        *("study-list", "All studies", fields, studies_in(runs), 4),
        "All studies. Validation scores chose the winner; only its finals were tested.",
        helps=_HELP,
        optional=("run", "condition", "search"),
        line=_line,
        all_in="clar-tune query reads all.",
        media=(PAGE,),
    )


def _line(found: Found) -> dict[str, str]:
    run, study = found
    key = key_of(run, study) if is_searched(study) else ""
    return {"graph": study.graph, "method": label_of(run, study), "key": key}


def _trials(study: StudyView) -> Cell:
    ended = len(study.trials) - study.count("running")
    return Cell(ended, f"{ended}/{study.asked}{' used up' if study.used_up else ''}")


def _validation(study: StudyView) -> Cell:
    value = study.best.val_score if study.best else None
    return Cell(value, numbers.score(value, study.metric))


def _winner(study: StudyView) -> Cell:
    return listing(chosen(study, sorted(study.best.params)) if study.best else "", "params")


def chosen(study: StudyView, keys: Iterable[str]) -> str:
    """Parameters of the winner, as far as it has them."""
    params = study.best.params if study.best else {}
    return ", ".join(f"{key} {setting(params[key])}" for key in keys if key in params)
