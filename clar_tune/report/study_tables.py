"""The studies of a report: which there are, how far each came, and what won."""

import hashlib
import json
from collections.abc import Sequence

from clar_tune.analysis import RunView, StudyView
from clar_tune.report import words
from clar_tune.report.cells import Column, Line, Table, listing, numeric, span, table, text, whole
from clar_tune.report.figures.places import place_of
from clar_tune.report.formats.texts import name, place

Found = tuple[RunView, StudyView]

_COLUMNS = (
    *(Column("run"), Column("graph"), Column("condition"), Column("method")),
    Column("search", True, "Number of the search, where searches were repeated"),
    Column("trials", True, "Configurations that ended, of those asked for"),
    *(Column("complete", True), Column("pruned", True), Column("failed", True)),
    Column("repeats", True, "Trainings of the search"),
    Column("validation", True, "Mean validation score of the winner"),
    Column("finals", True, "Trainings of the winner, of those asked for"),
    Column("time", True),
    Column("winning parameters"),
)


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
    lines = [_line(run, study, several=len(runs) > 1) for run, study in studies_in(runs)]
    return table(
        "study-list",
        "All studies. Validation scores chose the winner; only its finals were tested.",
        _COLUMNS,
        lines,
        heads=4,
        optional=("run", "condition", "search"),
        all_in="clar-tune query reads all.",
    )


def _line(run: RunView, study: StudyView, *, several: bool) -> Line:
    ended = len(study.trials) - study.count("running")
    best = study.best
    value = best.val_score if best else None
    params = best.params if best else {}
    used_up = " used up" if study.used_up else ""
    cells = (
        text(run.name if several else ""),
        *(text(study.graph), text(study.condition), text(study.method)),
        numeric(str(study.search) if study.search else "", study.search),
        numeric(f"{ended}/{study.asked}{used_up}", ended),
        *(whole(study.count(state)) for state in ("complete", "pruned", "failed")),
        whole(study.repeats),
        numeric(words.score(value, study.metric), value),
        numeric(f"{len(study.finals)}/{study.finals_asked}", len(study.finals)),
        span(study.seconds),
        listing(
            ", ".join(f"{key} {words.setting(params[key])}" for key in sorted(params)), "params"
        ),
    )
    key = key_of(run, study) if is_searched(study) else ""
    return Line(cells, study.graph, label_of(run, study), key)
