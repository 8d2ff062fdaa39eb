"""A comparison in print: each format is a function from comparisons to text."""

from typing import Protocol

from clar_tune.analysis import Comparison
from clar_tune.report.formats.as_json import as_json
from clar_tune.report.formats.flat import flat
from clar_tune.report.formats.latex import latex
from clar_tune.report.formats.markdown import markdown
from clar_tune.report.formats.table import table

__all__ = ["FORMATS", "Format", "table"]


class Format(Protocol):
    """Prints any number of comparisons."""

    def __call__(self, *comparisons: Comparison) -> str:
        """The text of a whole page or file."""


FORMATS: dict[str, Format] = {
    "table": table,
    "markdown": markdown,
    "latex": latex,
    "csv": flat,
    "json": as_json,
}
