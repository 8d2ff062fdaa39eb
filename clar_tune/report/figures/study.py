"""The figures of one study."""

from collections.abc import Iterator, Mapping

from clar_tune.analysis import StudyView
from clar_tune.report.blocks import Figure, Rows, Spec
from clar_tune.report.figures.history import history_spec, history_text
from clar_tune.report.figures.importance import (
    importance_rows,
    importance_spec,
    importance_text,
    no_importance,
)
from clar_tune.report.figures.names import file_stem, place_name, short
from clar_tune.report.figures.parallel import parallel_spec, parallel_text
from clar_tune.report.figures.rungs import rungs_spec, rungs_text
from clar_tune.report.figures.trials import Trials, trials_of
from clar_tune.report.figures.weights import weights_spec, weights_text

TITLES = {
    "history": "Search history",
    "rungs": "From rung to rung",
    "importance": "Importance of parameters",
    "parallel": "Configurations",
    "map": "Scores over alpha and beta",
}


def of_study(study: StudyView, importances: Mapping[str, float]) -> list[Figure]:
    """The figures of a search; those without data are left out, all if nothing was searched.

    All but the importances share the same rows, one per trial.
    """
    name = f"{short(study.method)} on {place_name(study.graph, study.condition)}"
    name += f", search {study.search}" if study.search else ""
    again = f"search={study.search}" if study.search else ""
    return [
        Figure(
            name=file_stem(study.graph, study.method, study.condition, again, kind),
            kind=kind,
            title=f"{TITLES[kind]}: {name}",
            text=text,
            rows=rows,
            spec=spec,
        )
        for kind, text, rows, spec in _parts(trials_of(study), importances)
    ]


def _parts(
    trials: Trials, importances: Mapping[str, float]
) -> Iterator[tuple[str, str, Rows, Spec]]:
    """Kind, text, rows and spec of each figure."""
    history = history_spec(trials)
    if history is None:
        return
    text = history_text(trials) + ("" if importances else f" {no_importance(trials)}")
    yield "history", text, trials.rows, history
    rungs = rungs_spec(trials)
    if rungs is not None:
        yield "rungs", rungs_text(trials), trials.rows, rungs
    if importances:
        rows = importance_rows(importances)
        yield "importance", importance_text(rows, trials), rows, importance_spec()
    parallel = parallel_spec(trials)
    if parallel is not None:
        yield "parallel", parallel_text(trials), trials.rows, parallel
    weights = weights_spec(trials)
    if weights is not None:
        yield "map", weights_text(trials), trials.rows, weights
