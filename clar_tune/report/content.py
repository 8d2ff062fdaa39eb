"""All that the templates of the page show, as one dictionary."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clar_tune.analysis import Comparison, RunView, to_cell
from clar_tune.report.blocks import PAGE, Figure, Matrix, Prose, Table
from clar_tune.report.builders import studies
from clar_tune.report.builders.comparison import document_of
from clar_tune.report.builders.penalties import penalties_table
from clar_tune.report.failures import failures_of
from clar_tune.report.manifests import head_of, manifest_of
from clar_tune.report.progress import Liveness, progress_of
from clar_tune.report.texts import name, sentence

PLACED = (
    *("conclusions", "tallies", "coefficients", "matrix", "legend", "scores", "rivals"),
    *("standings", "planned", "pairs", "remarks", "effects", "over-graphs", "backbones"),
)
"""Blocks that the template puts into sections of its own; all others follow in their order."""


def context_of(
    runs: Sequence[RunView],
    comparison: Comparison,
    drawn: Sequence[Figure],
    versions: Mapping[str, str],
    liveness: Mapping[str, Liveness],
    *,
    live: bool,
) -> dict[str, Any]:
    """What the templates show; ``versions`` are those of the studies' data, by key."""
    unfinished = live or any(run.row.state != "finished" for run in runs)
    places = [to_cell(p.place, comparison.columns) for run in runs for p in run.row.planned]
    shown = document_of(comparison, drawn).shown_in(PAGE)
    blocks = [block for block in shown if isinstance(block, Prose | Table | Matrix)]
    return {
        "live": live,
        "head": head_of(runs),
        "headline": sentence(comparison.headline),
        "counts": _counts(runs),
        "progress": [progress_of(r, liveness.get(r.name)) for r in runs] if unfinished else [],
        "document": dict.fromkeys(PLACED) | {block.ident: block for block in blocks},
        "more": [block for block in blocks if block.ident not in PLACED],
        "across": comparison.across,
        "figures": drawn,
        "study_list": studies.studies_table(runs),
        "choices": _choices(runs),
        "study_versions": versions,
        "penalties": penalties_table(runs),
        "failures": failures_of(runs),
        "manifests": [manifest_of(run) for run in runs],
        "graphs": _filter(graph for graph, _, _ in places),
        "methods": _filter(method for _, _, method in places),
    }


def _counts(runs: Sequence[RunView]) -> list[tuple[str, str]]:
    """The size of it all, in a few numbers."""
    found = [study for _, study in studies.studies_in(runs)]
    return [
        ("graphs", f"{len({study.graph for study in found}):,}"),
        ("methods", f"{len({study.method for study in found}):,}"),
        ("studies", f"{len(found):,}"),
        ("trials", f"{sum(len(study.trials) for study in found):,}"),
        ("repeats", f"{sum(study.repeats for study in found):,}"),
        ("finals", f"{sum(len(study.finals) for study in found):,}"),
    ]


def _choices(runs: Sequence[RunView]) -> dict[str, list[tuple[str, str]]]:
    """Keys and titles of studies with a search, by graph."""
    found: dict[str, list[tuple[str, str]]] = {}
    for run, study in filter(lambda each: studies.is_searched(each[1]), studies.studies_in(runs)):
        title = studies.title_of(study) + (f" ({name(run.name)})" if len(runs) > 1 else "")
        found.setdefault(name(study.graph), []).append((studies.key_of(run, study), title))
    return found


def _filter(values: Iterable[str]) -> list[tuple[str, str]]:
    """Each value once, with what is shown for it."""
    return [(value, name(value)) for value in dict.fromkeys(values)]
