"""What correlations say, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.records import Correlation
from clar_tune.metric import metric_named


def correlation_sentences(correlations: Sequence[Correlation]) -> Iterator[str]:
    """What the coefficients say, and how often there is none."""
    found = [c for c in correlations if c.coefficient is not None]
    yield from _spearman([c for c in found if c.kind == "spearman"])
    pearson = [c for c in found if c.kind == "pearson"]
    for values in dict.fromkeys(c.values for c in pearson):
        yield from _pearson([c for c in pearson if c.values == values])
    constant = [_correlated(c) for c in correlations if c.coefficient is None]
    if constant:
        yield f"No coefficient for {', '.join(constant)}: the scores there do not vary."


def _spearman(found: Sequence[Correlation]) -> Iterator[str]:
    if not found:
        return
    apart = [c for c in found if c.low is not None and c.high is not None and c.low * c.high > 0]
    listed = (
        f" ({', '.join(f'{_correlated(c)} {c.coefficient:+.2f}' for c in apart)})" if apart else ""
    )
    yield (
        f"Score and {found[0].key} go together in {len(apart)} of {len(found)} cases{listed}: "
        "there the interval of Spearman's coefficient excludes 0, as it does once in 20 by chance."
    )


def _pearson(found: Sequence[Correlation]) -> Iterator[str]:
    first, second = (f"{found[0].key}={value}" for value in found[0].values)
    coefficients = [c.coefficient for c in found if c.coefficient is not None]
    yield (
        f"Scores under {first} and {second}: Pearson's coefficient is {_span(coefficients)} in "
        f"{len(found)} case{'s' * (len(found) != 1)}; {second} less {first}: "
        f"{', '.join(map(_gap, found))}."
    )
    same = [c for c in found if c.identical]
    if same:
        apart = [c.apart for c in same if c.apart is not None]
        yield (
            f"{_span([c.identical for c in same])} of {max(c.pairs for c in same)} cells are the "
            f"very same trainings under {first} and {second}, which raises the coefficient"
            f"{f'; it is {_span(apart)} without them' if apart else ''}."
        )


def _span(values: Sequence[float]) -> str:
    """``0.81`` or ``0.81 to 0.99``."""
    ends = [f"{v:.2f}" if isinstance(v, float) else str(v) for v in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends))


def _gap(found: Correlation) -> str:
    percent = metric_named(found.metric).percent
    scale, form, unit = (100, "+z.2f", " points") if percent else (1, "+z.3g", "")
    half = "" if found.gap_half is None else f" ± {format(scale * found.gap_half, form[1:])}"
    return f"{format(scale * (found.gap or 0.0), form)}{half}{unit} on {found.graph}"


def _correlated(found: Correlation) -> str:
    place = f"{found.graph} ({found.condition})" if found.condition else found.graph
    return f"{found.method} on {place}"
