"""The figures of one study."""

from collections.abc import Mapping

from clar_tune.figures.history import history_spec, history_text
from clar_tune.figures.importance import (
    importance_rows,
    importance_spec,
    importance_text,
    no_importance,
)
from clar_tune.figures.parallel import parallel_spec, parallel_text
from clar_tune.figures.records import Figure, file_stem, place_name, short
from clar_tune.figures.rungs import rungs_spec, rungs_text
from clar_tune.figures.trials import trials_of
from clar_tune.figures.weights import weights_spec, weights_text
from clar_tune.overview import StudyView

FROM_TRIALS = (
    ("history", "Search history", history_spec, history_text),
    ("rungs", "From rung to rung", rungs_spec, rungs_text),
    ("parallel", "Configurations", parallel_spec, parallel_text),
    ("map", "Scores over alpha and beta", weights_spec, weights_text),
)
"""Figures over the same rows, one per trial."""


def of_study(study: StudyView, importances: Mapping[str, float]) -> list[Figure]:
    """The figures of a search; those without data are left out, all if nothing was searched."""
    trials = trials_of(study)
    name = f"{short(study.method)} on {place_name(study.graph, study.condition)}"
    name += f", search {study.search + 1}" if study.search else ""
    parts = study.graph, study.method, study.condition
    again = (f"search={study.search + 1}",) if study.search else ()
    figures = []
    for kind, title, spec_of, text_of in FROM_TRIALS:
        spec = spec_of(trials)
        if spec is not None:
            text = text_of(trials)
            if kind == "history" and not importances:
                text += " " + no_importance(trials)
            figures.append(
                Figure(
                    name=file_stem(*parts, *again, kind),
                    kind=kind,
                    title=f"{title}: {name}",
                    text=text,
                    rows=trials.rows,
                    spec=spec,
                )
            )
    if importances and figures:
        rows = importance_rows(importances)
        figures.append(
            Figure(
                name=file_stem(*parts, *again, "importance"),
                kind="importance",
                title=f"Importance of parameters: {name}",
                text=importance_text(rows),
                rows=rows,
                spec=importance_spec(),
            )
        )
    return figures
