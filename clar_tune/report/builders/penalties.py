"""What each regularizer really did in the finals of its winner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from clar_tune.analysis import WEIGHTS, RunView, StudyView
from clar_tune.report import numbers
from clar_tune.report.blocks import PAGE, Cell, Column, Table
from clar_tune.report.builders.fields import Field, listing, number, table_of, text, words
from clar_tune.report.builders.studies import chosen, label_of, search_of, studies_in

FILTERS = ("gamma_", "gram_layer_")
"""How facts of learned filters begin, which have figures of their own."""


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a penalty in the finals of a winner; it has no name if there is none."""

    study: StudyView
    label: str
    """The column of its study in the comparison."""
    name: str = ""
    value: float | None = None
    active: float | None = None


_FIELDS: tuple[Field[Term], ...] = (
    words("graph", lambda term: term.study.graph),
    words("condition", lambda term: term.study.condition),
    words("method", lambda term: term.study.method),
    number("search", lambda term: search_of(term.study)),
    words("weights", lambda term: chosen(term.study, WEIGHTS)),
    Field(
        Column("term"),
        lambda t: text(t.name) if t.name else Cell(None, "none in the loss", "quiet"),
    ),
    number("value", lambda t: Cell(t.value, "" if t.value is None else f"{t.value:.3g}")),
    number("active", lambda t: Cell(t.active, numbers.share(t.active), "meter" if t.name else "")),
    Field(Column("facts"), lambda term: listing(_facts(term.study))),
)
_HELP = {
    "weights": "What validation chose",
    "term": "Part of the penalty",
    "value": "Mean before clamp and weight, in the selected epoch",
    "active": "Share of epochs in which the term had a gradient",
    "facts": "What else the regularizer tells of itself",
}


def penalties_table(runs: Sequence[RunView]) -> Table:
    """One line per term of a penalty, averaged over finals."""
    found = [
        term for run, study in studies_in(runs) for term in _terms(study, label_of(run, study))
    ]
    return table_of(
        *("terms", "What each regularizer really did", _FIELDS, found, 3),
        "Means over finals. A term that is never active left the training as it was.",
        helps=_HELP,
        optional=("condition", "search", "facts"),
        line=lambda term: {"graph": term.study.graph, "method": term.label},
        all_in="the data of the figure have all.",
        media=(PAGE,),
    )


def _terms(study: StudyView, label: str) -> list[Term]:
    if "+" not in study.method or not study.finals or study.best is None:
        return []
    terms = [final.terms for final in study.finals]
    found = []
    for term in dict.fromkeys(name for each in terms for name in each):
        means = _means([each[term] for each in terms if term in each])
        found.append(Term(study, label, term, means.get("value"), means.get("active")))
    return found or [Term(study, label)]


def _facts(study: StudyView) -> str:
    means = _means([final.facts for final in study.finals])
    return ", ".join(
        f"{key} {value:.3g}" for key, value in means.items() if not key.startswith(FILTERS)
    )


def _means(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of every entry over the dictionaries that have it."""
    names = dict.fromkeys(key for each in found for key in each)
    return {key: fmean(each[key] for each in found if key in each) for key in names}
