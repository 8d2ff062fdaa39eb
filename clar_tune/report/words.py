"""Gains, spans and moments as the page shows them; other numbers as every format does."""

from datetime import UTC, datetime
from typing import Any

from clar_tune.report.formats import numbers

MINUS = "\N{MINUS SIGN}"


def gain(value: float, metric: str) -> str:
    """A difference of scores with its sign."""
    return numbers.gain(value, metric).replace("-", MINUS)


def score(value: float | None, metric: str) -> str:
    """A score, or nothing."""
    return "" if value is None else numbers.score(value, metric)


def size(value: float | None, metric: str) -> str:
    """Half of an interval, or nothing."""
    return "" if value is None else numbers.size(value, metric)


def moment(when: datetime) -> str:
    """A day and a minute in UTC."""
    known = when if when.tzinfo else when.replace(tzinfo=UTC)
    return f"{known.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def setting(value: Any) -> str:
    """A parameter as one writes it in a space."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
