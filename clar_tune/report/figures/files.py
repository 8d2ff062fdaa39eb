"""Figures as files for a paper: SVG, PNG, and the data as CSV."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import vl_convert

from clar_tune.errors import StoreError
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.theme import FILES

WIDTH = 640
"""Pixels; about the width of a page of text at 96 pixels per inch."""
SCALE = 2


def write_figures(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write each figure as NAME.svg, NAME.png and NAME.csv; returns the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [file for figure in figures for file in _write(figure, folder)]
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"cannot write figures to {str(folder)!r}: {reason}. Name a folder that can be "
            "written to."
        ) from error


def drawn(figure: Figure) -> str:
    """A figure as SVG on white, in the width of a page."""
    spec = {**figure.spec, "width": WIDTH, "datasets": {"rows": list(figure.rows)}}
    svg: str = vl_convert.vegalite_to_svg(spec, config=FILES, allowed_base_urls=[])
    return svg


def _write(figure: Figure, folder: Path) -> list[Path]:
    svg = drawn(figure)
    files = [folder / f"{figure.name}.{kind}" for kind in ("svg", "png", "csv")]
    files[0].write_text(svg, encoding="utf-8")
    files[1].write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
    _write_csv(figure.rows, files[2])
    return files


def _write_csv(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
