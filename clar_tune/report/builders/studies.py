"""The studies of a report: which there are, how far each came, and what won."""

import hashlib
import json
from collections.abc import Sequence

from clar_tune.analysis import RunView, StudyView, duration
from clar_tune.report import numbers
from clar_tune.report.builders.fields import Field, count, listing, number, table_of, told, words
from clar_tune.report.document import PAGE, Cell, Column, Table
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


def is_searched(study: StudyView) -> bool:
    """Whether there is a search to look at: some studies go straight to their finals."""
    return study.asked > 1 or study.repeats > 0


def studies_table(runs: Sequence[RunView]) -> Table:
    """One line per study."""
    several = len(runs) > 1
    fields: tuple[Field[Found], ...] = (
        words("run", lambda found: found[0].name if several else ""),
        words("graph", lambda found: found[1].graph),
        words("condition", lambda found: found[1].condition),
        words("method", lambda found: found[1].method),
        number(
            "search",
            lambda found: found[1].search,
            lambda search: str(search) if search else "",
            "Number of the search, where searches were repeated",
        ),
        told(
            "trials",
            lambda found: _ended(found[1]),
            lambda found: _trials(found[1]),
            "Configurations that ended, of those asked for",
        ),
        *(_state(state) for state in ("complete", "pruned", "failed")),
        count("repeats", lambda found: found[1].repeats, "Trainings of the search"),
        told(
            "validation",
            lambda found: _validation(found[1]),
            lambda found: numbers.score(_validation(found[1]), found[1].metric),
            "Mean validation score of the winner",
        ),
        told(
            "finals",
            lambda found: len(found[1].finals),
            lambda found: f"{len(found[1].finals)}/{found[1].finals_asked}",
            "Trainings of the winner, of those asked for",
        ),
        number("time", lambda found: found[1].seconds, duration),
        Field(Column("winning parameters"), lambda found: _winner(found[1])),
    )
    return table_of(
        "study-list",
        "All studies",
        fields,
        studies_in(runs),
        heads=4,
        note="All studies. Validation scores chose the winner; only its finals were tested.",
        optional=("run", "condition", "search"),
        line=_line,
        all_in="clar-tune query reads all.",
        media=(PAGE,),
    )


def _line(found: Found) -> dict[str, str]:
    run, study = found
    key = key_of(run, study) if is_searched(study) else ""
    return {"graph": study.graph, "method": label_of(run, study), "key": key}


def _state(state: str) -> Field[Found]:
    return count(state, lambda found: found[1].count(state))


def _ended(study: StudyView) -> int:
    return len(study.trials) - study.count("running")


def _trials(study: StudyView) -> str:
    return f"{_ended(study)}/{study.asked}{' used up' if study.used_up else ''}"


def _validation(study: StudyView) -> float | None:
    return study.best.val_score if study.best else None


def _winner(study: StudyView) -> Cell:
    params = study.best.params if study.best else {}
    return listing(", ".join(f"{key} {setting(params[key])}" for key in sorted(params)), "params")
