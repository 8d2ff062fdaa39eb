"""Numbers as people read them: scores in percent, gains in points, p-values.

What is missing is an empty text.
"""

from clar_tune.metric import metric_named

MINUS = "\N{MINUS SIGN}"


def in_percent(metric: str) -> bool:
    """Whether a metric is a fraction that is printed in percent; an error is printed as it is."""
    return metric_named(metric).percent


def score(value: float | None, metric: str) -> str:
    """``72.34`` for an accuracy of 0.7234, ``0.02345`` for such an error."""
    return _written(value, metric, ".2f", "#.4g")


def gain(value: float | None, metric: str) -> str:
    """The same with its sign; what rounds to nothing is ``+0.00``."""
    return _written(value, metric, "+z.2f", "+z#.3g")


def signed(value: float | None, metric: str) -> str:
    """A gain with the sign that typesetters use."""
    return gain(value, metric).replace("-", MINUS)


def size(value: float | None, metric: str) -> str:
    """Half of an interval, or a detectable gain: never negative."""
    return _written(value, metric, ".2f", "#.3g")


def _written(value: float | None, metric: str, percent: str, natural: str) -> str:
    if value is None:
        return ""
    return f"{100 * value:{percent}}" if in_percent(metric) else f"{value:{natural}}"


def between(shown: str, half: str) -> str:
    """``+1.23 ± 0.45``, or without what is missing."""
    return f"{shown} ± {half}" if half else shown


def ratio(value: float | None) -> str:
    """``0.9970``, or nothing."""
    return "" if value is None else f"{value:.4f}"


def coefficient(value: float | None) -> str:
    """``+0.31``, or nothing."""
    return "" if value is None else f"{value:+z.3f}"


def interval(low: float | None, high: float | None) -> str:
    """``-0.102 to +0.415``, or nothing."""
    return "" if low is None or high is None else f"{coefficient(low)} to {coefficient(high)}"


def p_value(value: float | None) -> str:
    """``0.031``, ``<0.001``, or nothing."""
    if value is None:
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def share(value: float | None) -> str:
    """``90 %``, ``<1 %``, or nothing."""
    if value is None:
        return ""
    return "<1 %" if 0 < value < 0.01 else f"{100 * value:.0f} %"


def rank(value: float | None) -> str:
    """``2.50``, or nothing."""
    return "" if value is None else f"{value:.2f}"


def count(value: float) -> str:
    """``12,345``."""
    return f"{value:,.0f}"
