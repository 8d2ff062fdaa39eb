"""What each regularizer really did in the finals of its winner."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from clar_tune.analysis import WEIGHTS, RunView, StudyView
from clar_tune.report import words
from clar_tune.report.cells import Cell, Column, Line, Table, listing, numeric, table, text
from clar_tune.report.formats import numbers
from clar_tune.report.study_tables import label_of, studies_in

FILTERS = ("gamma_", "gram_layer_")
"""How facts of learned filters begin, which have figures of their own."""

_COLUMNS = (
    *(Column("graph"), Column("condition"), Column("method"), Column("search", True)),
    Column("weights", False, "What validation chose"),
    Column("term", False, "Part of the penalty"),
    Column("value", True, "Mean before clamp and weight, in the selected epoch"),
    Column("active", True, "Share of epochs in which the term had a gradient"),
    Column("facts", False, "What else the regularizer tells of itself"),
)


def penalties_table(runs: Sequence[RunView]) -> Table:
    """One line per term of a penalty, averaged over finals."""
    lines = [
        line for run, study in studies_in(runs) for line in _lines(study, label_of(run, study))
    ]
    return table(
        "terms",
        "Means over finals. A term that is never active left the training as it was.",
        _COLUMNS,
        lines,
        heads=3,
        optional=("condition", "search", "facts"),
        all_in="the data of the figure have all.",
    )


def _lines(study: StudyView, label: str) -> Iterator[Line]:
    if "+" not in study.method or not study.finals or study.best is None:
        return
    params = study.best.params
    weights = ", ".join(f"{key} {words.setting(params[key])}" for key in WEIGHTS if key in params)
    terms = [final.terms for final in study.finals]
    facts = [_facts(final.facts) for final in study.finals]
    head = (
        *(text(study.graph), text(study.condition), text(study.method)),
        numeric(str(study.search) if study.search else "", study.search),
        text(weights),
    )
    told = listing(", ".join(f"{key} {value:.3g}" for key, value in _means(facts).items()))
    names = dict.fromkeys(term for found in terms for term in found)
    for cells in [_term(terms, term) for term in names] or [_no_term()]:
        yield Line((*head, *cells, told), study.graph, label)


def _facts(found: Mapping[str, float]) -> dict[str, float]:
    return {key: value for key, value in found.items() if not key.startswith(FILTERS)}


def _term(terms: Sequence[Mapping[str, Mapping[str, float]]], term: str) -> list[Cell]:
    found = _means([each[term] for each in terms if term in each])
    value, active = found.get("value"), found.get("active")
    shown = "" if value is None else f"{value:.3g}"
    return [text(term), numeric(shown, value), numeric(numbers.share(active), active, "meter")]


def _no_term() -> list[Cell]:
    return [Cell("none in the loss", None, "quiet"), Cell(""), Cell("")]


def _means(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of every entry over the dictionaries that have it."""
    names = dict.fromkeys(key for each in found for key in each)
    return {key: fmean(each[key] for each in found if key in each) for key in names}
