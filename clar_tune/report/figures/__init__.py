"""Every figure of a report: Vega-Lite for the page; SVG, PNG and CSV for files."""

from collections.abc import Sequence

from clar_tune.analysis import Comparison, RunView
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.against_paper import paper_figure
from clar_tune.report.figures.budget import budget_figure
from clar_tune.report.figures.expected import expected_figures
from clar_tune.report.figures.files import write_figures
from clar_tune.report.figures.gains import gain_figures
from clar_tune.report.figures.pairs import pair_figures
from clar_tune.report.figures.penalty import penalty_figure
from clar_tune.report.figures.ranks import rank_figure
from clar_tune.report.figures.responses import response_figures
from clar_tune.report.figures.script import vega_script
from clar_tune.report.figures.study import of_study
from clar_tune.report.figures.sweeps import sweep_figures
from clar_tune.report.figures.theme import DARK, LIGHT

__all__ = ["DARK", "LIGHT", "Figure", "of_comparison", "of_study", "vega_script", "write_figures"]


def of_comparison(comparison: Comparison, runs: Sequence[RunView]) -> list[Figure]:
    """The figures over all studies; those without data are left out."""
    found = [
        *sweep_figures(comparison),
        *pair_figures(comparison),
        *response_figures(runs),
        *gain_figures(comparison),
        rank_figure(comparison),
        paper_figure(comparison),
        *expected_figures(runs),
        penalty_figure(comparison, runs),
        budget_figure(runs),
    ]
    return [figure for figure in found if figure is not None]
