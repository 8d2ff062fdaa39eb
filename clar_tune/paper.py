"""The numbers that the paper prints, to stand beside ours; they lie in ``paper.yaml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from clar_tune.checks import one_of

TABLES = ("II", "III", "IV", "V", "VI")


def printed(
    table: str | None, graph: str, method: str, condition: str, protocol: str
) -> float | None:
    """The paper's score in natural units, or none if it has none that may stand beside ours.

    The names are those of a study. ``NAME@hash`` is another graph than the paper's.
    """
    if table is None:
        return None
    found = _table(table)
    if not found.scale or not found.comparable(protocol):
        return None
    value = found.numbers.get((graph, method, condition))
    # Rounded, because 79.15 / 100 is not 0.7915.
    return None if value is None else round(found.scale * value, 6)


def coefficient(table: str, graph: str, method: str) -> float | None:
    """The paper's correlation coefficient of Table V (Spearman) or VI (Pearson), if any."""
    found = _table(table)
    return None if found.scale else found.numbers.get((graph, method, ""))


def printed_in(table: str) -> str:
    """Which table the paper's numbers come from and what they are, as a sentence."""
    return _table(table).caption


@dataclass(frozen=True, slots=True)
class _Table:
    caption: str
    scale: float
    """Natural units per printed unit; 0 for coefficients, which are no scores."""
    protocols: tuple[str, ...] | None
    """Protocols with comparable splits; none where the split plays no part."""
    numbers: Mapping[tuple[str, str, str], float]
    """By graph, method and condition."""

    def comparable(self, protocol: str) -> bool:
        return self.protocols is None or protocol in self.protocols


_SCALES = {"percent": 0.01, "as-is": 1.0, "coefficient": 0.0}


def _table(name: str) -> _Table:
    return _tables()[one_of("table of the paper", name, TABLES)]


@cache
def _tables() -> dict[str, _Table]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return {
        name: _Table(
            caption=found["caption"],
            scale=_SCALES[found["unit"]],
            protocols=None if found["protocols"] == "any" else tuple(found["protocols"]),
            numbers=dict(_numbers(found)),
        )
        for name, found in yaml.safe_load(text).items()
    }


def _numbers(found: Mapping[str, Any]) -> list[tuple[tuple[str, str, str], float]]:
    """Every cell of a matrix with its graph, method and condition."""
    return [
        (_place(found["rows"] + found["columns"], f"{row} {heading}".split()), value)
        for row, values in found["numbers"].items()
        for heading, value in zip(found["headings"], values, strict=True)
    ]


def _place(kinds: list[str], words: list[str]) -> tuple[str, str, str]:
    named = dict(zip(kinds, words, strict=True))
    method = named.get("method") or f"{named['backbone']}+{named['regularizer']}"
    return named["graph"], method.removesuffix("+none"), named.get("condition", "")
