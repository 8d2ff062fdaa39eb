"""The numbers that the paper prints, to stand beside ours; they lie in ``paper.yaml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from clar_tune.validation import one_of

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
    if found.unit not in _SCALES or not found.comparable(protocol):
        return None
    value = found.numbers.get((graph, method, condition))
    # Rounded, because 79.15 / 100 is not 0.7915.
    return None if value is None else round(_SCALES[found.unit] * value, 6)


def printed_ratio(
    table: str | None, graph: str, method: str, against: str, condition: str, protocol: str
) -> float | None:
    """The paper's score of a method as a part of that of another, where its unit is unknown."""
    if table is None:
        return None
    found = _table(table)
    if found.unit != "unknown" or not found.comparable(protocol):
        return None
    one, other = (found.numbers.get((graph, name, condition)) for name in (method, against))
    return one / other if one is not None and other else None


def coefficient(
    table: str | None, graph: str, method: str, of: str, protocol: str
) -> float | None:
    """The paper's correlation coefficient; ``of`` says which, as ``spearman samples``."""
    if table is None:
        return None
    found = _table(table)
    if found.correlates != of or not found.comparable(protocol):
        return None
    return found.numbers.get((graph, method, ""))


def printed_in(table: str) -> str:
    """Which table the paper's numbers come from and what they are, as a sentence."""
    return _table(table).caption


@dataclass(frozen=True, slots=True)
class _Table:
    caption: str
    unit: str
    protocols: tuple[str, ...] | None
    """Protocols with comparable splits; none where the split plays no part."""
    numbers: Mapping[tuple[str, str, str], float]
    """By graph, method and condition."""
    correlates: str | None
    """What coefficients are of, such as ``spearman samples``."""

    def comparable(self, protocol: str) -> bool:
        return self.protocols is None or protocol in self.protocols


_SCALES = {"percent": 0.01}
"""Natural units per printed unit of scores that may stand beside ours."""


def _table(name: str) -> _Table:
    return _tables()[one_of("table of the paper", name, TABLES)]


@cache
def _tables() -> dict[str, _Table]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return {
        name: _Table(
            caption=found["caption"],
            unit=found["unit"],
            protocols=None if found["protocols"] == "any" else tuple(found["protocols"]),
            numbers=dict(_numbers(found)),
            correlates=found.get("correlates"),
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
