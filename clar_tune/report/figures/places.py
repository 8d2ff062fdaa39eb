"""Where studies stand in the table of a comparison: some keys of conditions make columns."""

from collections.abc import Sequence

from clar_tune.analysis import Place, RunView, StudyView, to_cell


def place_of(run: RunView, study: StudyView) -> Place:
    """Graph, condition of the row, and name of the column of a study."""
    columns = run.row.columns or ()
    return to_cell((study.graph, study.condition, study.method), columns)


def by_place(runs: Sequence[RunView]) -> dict[Place, list[StudyView]]:
    """All studies by place; repeated searches share one."""
    found: dict[Place, list[StudyView]] = {}
    for run in runs:
        for study in run.studies:
            found.setdefault(place_of(run, study), []).append(study)
    return found
