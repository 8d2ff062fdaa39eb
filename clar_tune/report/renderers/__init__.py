"""Documents in print: one renderer per format, each a function from documents to text."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from clar_tune.errors import UnknownName
from clar_tune.report.blocks import Document

FORMATS = ("terminal", "markdown", "latex", "html", "csv", "json")
"""Each is a module here, with a function ``rendered``."""


def render(documents: Sequence[Document], form: str, **options: Any) -> str:
    """The text of a whole page or file; ``options`` are those of the renderer."""
    if form not in FORMATS:
        raise UnknownName("format", form, FORMATS)
    renderer: Callable[..., str] = import_module(f"{__name__}.{form}").rendered
    return renderer(documents, **options)
