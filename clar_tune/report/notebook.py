"""Documents and figures as a notebook shows them: HTML with its own style, without a script."""

from base64 import b64encode
from collections.abc import Sequence

from markupsafe import Markup

from clar_tune.report.blocks import PRINT, Document, Figure, Prose
from clar_tune.report.figures.files import drawn
from clar_tune.report.renderers.html import FILES, templates

FOLDED = ("remarks", "legend")
"""Blocks that are shown when somebody asks for them."""


def notebook_html(documents: Sequence[Document] = (), figures: Sequence[Figure] = ()) -> str:
    """The blocks that are printed, then figures as pictures.

    Pictures stand in elements of their own, as parts of one drawing may be named like those of
    another; notebooks also keep them where they remove what could run.
    """
    blocks = [block for document in documents for block in document.shown_in(PRINT)]
    folded = [b for b in blocks if isinstance(b, Prose) and b.ident in FOLDED]
    return (
        templates()
        .get_template("notebook.html")
        .render(
            style=Markup((FILES / "notebook.css").read_text(encoding="utf-8")),
            blocks=[block for block in blocks if block not in folded],
            folded=folded,
            figures=[(figure, _picture(figure)) for figure in figures],
        )
    )


def _picture(figure: Figure) -> str:
    return f"data:image/svg+xml;base64,{b64encode(drawn(figure).encode()).decode()}"
