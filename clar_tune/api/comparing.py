"""Runs side by side, as a notebook shows them and as a program asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clar_tune.api.frames import frame_of_records
from clar_tune.errors import ParameterError, UnknownName

if TYPE_CHECKING:
    from pandas import DataFrame

    from clar_tune import analysis
    from clar_tune.api.stored import Run
    from clar_tune.report import Document

TABLE = "table"
"""What the command line calls the format for terminals."""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What ``clar-tune compare`` prints; a notebook shows it as HTML."""

    runs: tuple[Run, ...]
    criteria: analysis.Criteria
    tables: tuple[analysis.Comparison, ...]
    """One over all runs; two if two runs differ in their splits alone."""

    @property
    def headline(self) -> str:
        """The answer in one line; one for each table."""
        return "\n".join(table.headline for table in self.tables)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What can be concluded, and what cannot, a sentence each."""
        return tuple(said for table in self.tables for said in table.conclusions)

    def frame(self, kind: str) -> DataFrame:
        """The records of a kind, which are those of ``--format json`` under the same name.

        Args:
            kind: ``scores``, ``effects``, ``contrasts``, ``backbones``, ``over_graphs``,
                ``standings``, ``rows`` …
        """
        from clar_tune.report import data_of

        contents = [data_of(document) for document in self._documents()]
        kinds = dict.fromkeys(name for content in contents for name in _lists(content))
        if kind not in kinds:
            raise UnknownName("kind of records", kind, kinds)
        return frame_of_records(
            [
                {"runs": " ".join(content["runs"]), **record}
                for content in contents
                for record in content.get(kind, ())
            ]
        )

    def to(self, form: str, *, explain: bool = False) -> str:
        """The text of it in a format.

        Args:
            form: ``table``, ``markdown``, ``latex``, ``html``, ``csv`` or ``json``.
            explain: Whether it tells how to read the numbers, and has all remarks.
        """
        from clar_tune.report import FORMATS, render

        forms = [TABLE if name == "terminal" else name for name in FORMATS]
        if form not in forms:
            raise UnknownName("format", form, forms)
        return render(self._documents(explain=explain), "terminal" if form == TABLE else form)

    def __repr__(self) -> str:
        return f"<comparison of {', '.join(run.name for run in self.runs)}: {self.headline}>"

    def __str__(self) -> str:
        return self.to(TABLE)

    def _repr_html_(self) -> str:
        from clar_tune.report import notebook_html

        return notebook_html(self._documents())

    def _documents(self, *, explain: bool = True) -> list[Document]:
        from clar_tune.report import documents_of

        return documents_of(self.tables, explain=explain, apart=True)


def _lists(content: Mapping[str, Any]) -> list[str]:
    """Names of what is a list of records."""
    return [
        name
        for name, value in content.items()
        if isinstance(value, list) and not any(isinstance(item, str) for item in value)
    ]


def compare(
    *runs: Run,
    margin: float | None = None,
    interval: str = "splits",
    baseline: str | None = None,
) -> Comparison:
    """The methods of one run, or of several that may be joined, side by side.

    Runs are joined only if their protocols, budgets and final pairs agree; of two that differ
    in their splits alone, the effects are set against each other.

    Args:
        runs: What ``ct.run`` gave, or runs of ``ct.open_store``; one given twice counts once.
        margin: In points: an effect surely below it counts as equal; by default that of the run.
        interval: What intervals are for: new ``splits`` of this graph, or new data
            (``nadeau-bengio``).
        baseline: Plain backbone that the others are measured by; by default that of the space, or
            gcn.
    """
    from clar_tune.analysis import Criteria, compare_all, split_label

    named, share = distinct(runs), None if margin is None else margin / 100
    criteria = Criteria(margin=share, interval=interval, baseline=baseline)
    tables = compare_all([run.view() for run in named], criteria)
    methods = {split_label(label)[0] for table in tables for label in table.methods}
    plain = {method for method in methods if "+" not in method}
    if baseline is not None and baseline not in plain:
        raise UnknownName("plain backbone of these runs", baseline, plain)
    return Comparison(tuple(named), criteria, tuple(tables))


def distinct(runs: Sequence[Run]) -> list[Run]:
    """Each run once; none at all is refused."""
    if not runs:
        raise ParameterError("no run is given: what ct.run gave, or one of ct.open_store().")
    return list({(run.store.url, run.name): run for run in runs}.values())
