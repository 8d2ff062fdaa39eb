"""The command lines that README and docs show."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.MULTILINE | re.DOTALL


def fenced(page: str, heading: str = "") -> list[str]:
    """What a reader is to type, in order: lines after ``$``, or all lines of a block of ``sh``."""
    text = section(page, heading)
    lines = list[str]()
    for kind, block in re.findall(r"^```(console|sh)\n(.*?)^```", text, BLOCK):
        start = "" if kind == "sh" else r"\$ "
        lines += re.findall(rf"^{start}(.+?)(?:  +#.*)?$", block, re.MULTILINE)
    return lines


def inline(page: str) -> set[str]:
    """Commands inside sentences and tables."""
    sentences = re.sub(r"^```.*?^```", "", section(page), flags=BLOCK)
    found = {" ".join(code.split()) for code in re.findall(r"`([^`]+)`", sentences)}
    return {code for code in found if re.match(r"(RAY_\S+ )?(clar-tune|ray) ", code)}


def section(page: str, heading: str = "") -> str:
    """The text of a page, or what stands below one of its headings."""
    text = (ROOT / page).read_text()
    if not heading:
        return text
    _, found, rest = text.partition(f"\n## {heading}\n")
    assert found, f"{page} has no heading {heading!r}"
    return rest.partition("\n## ")[0]
