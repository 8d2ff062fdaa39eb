"""The figures of a report, one by one: they show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from clar_tune.api.comparing import Comparison
from clar_tune.api.frames import frame_of_records
from clar_tune.api.stored import Run
from clar_tune.errors import UnknownName

if TYPE_CHECKING:
    from pandas import DataFrame

    from clar_tune.analysis import Criteria, RunView
    from clar_tune.report import Figure as Drawing


@dataclass(frozen=True, slots=True, repr=False)
class Figure:
    """A figure: what it shows in words, its data, and its picture."""

    drawing: Drawing

    @property
    def name(self) -> str:
        """Stem of its files, such as ``gains`` or ``texas-gcn-clar-history``."""
        return self.drawing.name

    @property
    def kind(self) -> str:
        """What it shows, such as ``gains`` or ``history``."""
        return self.drawing.kind

    @property
    def title(self) -> str:
        """Its title."""
        return self.drawing.title

    @property
    def text(self) -> str:
        """What it shows and what it says, with the main numbers."""
        return self.drawing.text

    @property
    def spec(self) -> dict[str, Any]:
        """Vega-Lite with its data, which Altair reads too."""
        return {**self.drawing.spec, "datasets": {"rows": list(self.drawing.rows)}}

    def frame(self) -> DataFrame:
        """Its data."""
        return frame_of_records([dict(row) for row in self.drawing.rows])

    def svg(self) -> str:
        """Its picture, on white."""
        from clar_tune.report import drawn

        return drawn(self.drawing)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write NAME.svg, NAME.png and NAME.csv; the folder need not exist."""
        return Figures([self]).save(folder)

    def __repr__(self) -> str:
        return f"<figure {self.name}: {self.title}>"

    def _repr_html_(self) -> str:
        return Figures([self])._repr_html_()


class Figures(Sequence[Figure]):
    """Some figures, which a notebook shows one below the other."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._figures = tuple(figures)

    @overload
    def __getitem__(self, index: int) -> Figure: ...

    @overload
    def __getitem__(self, index: slice) -> Figures: ...

    def __getitem__(self, index: int | slice) -> Figure | Figures:
        found = self._figures[index]
        return found if isinstance(found, Figure) else Figures(found)

    def __len__(self) -> int:
        return len(self._figures)

    def __repr__(self) -> str:
        return f"<figures {', '.join(figure.name for figure in self)}>"

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write each as NAME.svg, NAME.png and NAME.csv; the folder need not exist."""
        from clar_tune.report import write_figures

        return write_figures((figure.drawing for figure in self), Path(folder))

    def _repr_html_(self) -> str:
        from clar_tune.report import notebook_html

        return notebook_html(figures=[figure.drawing for figure in self])


def figures(of: Run | Comparison, kind: str | None = None) -> Figures:
    """Figures of a run or of a comparison, as they are in a report.

    Args:
        of: What they are about.
        kind: Of the comparison: ``gains``, ``penalty``, ``budget``, ``expected``, ``sweep``,
            ``pairs``, ``ranks``, ``paper``, ``responses``; of each search: ``history``,
            ``rungs``, ``importance``, ``parallel``, ``map``. By default all that there are data
            for, which may be hundreds.
    """
    from clar_tune.analysis import Criteria

    views = [run.view(curves=True) for run in ((of,) if isinstance(of, Run) else of.runs)]
    criteria = Criteria() if isinstance(of, Run) else of.criteria
    over_all = list(_of_comparison(views, criteria))
    if any(figure.kind == kind for figure in over_all):
        return Figures([Figure(figure) for figure in over_all if figure.kind == kind])
    every = list(chain(over_all, _of_studies(views)))
    if kind is None:
        return Figures(list(map(Figure, every)))
    if not any(figure.kind == kind for figure in every):
        raise UnknownName("kind of figure that there are data for", kind, {f.kind for f in every})
    return Figures([Figure(figure) for figure in every if figure.kind == kind])


def _of_comparison(views: Sequence[RunView], criteria: Criteria) -> Iterator[Drawing]:
    from clar_tune.analysis import compare_all
    from clar_tune.report import of_comparison

    for table in compare_all(views, criteria):
        yield from of_comparison(table, [view for view in views if view.name in table.runs])


def _of_studies(views: Sequence[RunView]) -> Iterator[Drawing]:
    from clar_tune.analysis import importances
    from clar_tune.report import of_study

    for view in views:
        for study in view.studies:
            yield from of_study(study, importances(study))
