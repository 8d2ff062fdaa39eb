"""What drawn figures and their data files hold."""

import csv
import re
import xml.etree.ElementTree as ET

from clar_tune.report.figures.files import drawn

SVG = "{http://www.w3.org/2000/svg}"


def marks(figure, kind):
    """Marks of each layer that has some of a kind, such as ``symbol``, in an SVG of the figure."""
    layers = []
    for group in ET.fromstring(drawn(figure)).iter(f"{SVG}g"):
        if re.match(f"mark-{kind} role-mark", group.get("class", "")):
            layers.append([mark for mark in group if mark.tag != f"{SVG}g"])
    return [layer for layer in layers if layer]


def texts(figure):
    return [text.text or "" for text in ET.fromstring(drawn(figure)).iter(f"{SVG}text")]


def points_of(path):
    """Corners of a line in an SVG."""
    return [
        tuple(map(float, pair)) for pair in re.findall(r"([-\d.e]+),([-\d.e]+)", path.get("d"))
    ]


def parsed(file):
    """Rows of a CSV file; numbers as numbers, empty cells as none."""

    def value(cell):
        try:
            return float(cell)
        except ValueError:
            return cell or None

    with file.open(encoding="utf-8", newline="") as lines:
        return [{name: value(cell) for name, cell in row.items()} for row in csv.DictReader(lines)]


def as_cells(rows):
    """What a CSV file can keep of rows: it has one way to write nothing."""
    return [{name: None if cell == "" else cell for name, cell in row.items()} for row in rows]
