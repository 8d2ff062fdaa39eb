"""Verdicts of a table in sentences: how many of each, and why some comparisons have none."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.layout import split_label
from clar_tune.analysis.records import Contrast
from clar_tune.analysis.statistics import ENOUGH_UNITS
from clar_tune.analysis.wording import counted, place, some


def verdict_sentences(contrasts: Sequence[Contrast]) -> Iterator[str]:
    """One for each regularizer, one for the rivals of clar, and what stays open."""
    plain = [contrast for contrast in contrasts if not contrast.rival]
    for regularizer in dict.fromkeys(map(_regularizer, plain)):
        own = [contrast for contrast in plain if _regularizer(contrast) == regularizer]
        yield from _tally(f"{regularizer} against its backbone", own)
    yield from _tally("clar against rivals", [c for c in contrasts if c.rival])
    yield from _too_few_finals([c for c in contrasts if c.reason == "finals"])
    yield from _too_few_searches([c for c in contrasts if c.reason == "searches"])
    yield from _without_spread([c for c in contrasts if c.reason == "spread"])


def _regularizer(contrast: Contrast) -> str:
    """Its name, with what makes its column: ``clar clamp=10``."""
    method, condition = split_label(contrast.method)
    return f"{method.partition('+')[2]} {condition}".strip()


def _tally(what: str, contrasts: Sequence[Contrast]) -> Iterator[str]:
    judged = [contrast for contrast in contrasts if contrast.verdict != "none"]
    if not judged:
        return
    better = [contrast for contrast in judged if contrast.verdict == "better"]
    worse = [contrast for contrast in judged if contrast.verdict == "worse"]
    undecided = [contrast for contrast in judged if contrast.verdict == "undecided"]
    yield (
        f"{what}, {counted(len(judged), 'comparison')}: better in {len(better)}{_listed(better)}, "
        f"worse in {len(worse)}{_listed(worse)}, undecided in {len(undecided)}"
        f"{_detectable(undecided)}."
    )


def _detectable(undecided: Sequence[Contrast]) -> str:
    """Undecided is not equal: what could have been found."""
    sizes = sorted(contrast.detectable for contrast in undecided if contrast.detectable)
    if not sizes:
        return ""
    middle = sizes[len(sizes) // 2]
    errors = any(contrast.ratio is not None for contrast in undecided)
    points = f"{100 * middle:.2g}" if middle < 0.1 else f"{100 * middle:.0f}"
    size = f"{middle:.2g}" if errors else f"{points} points"
    subject, more = ("half of them", " or more") if len(sizes) > 1 else ("it", "")
    return (
        f" (which is not equal: {subject} would need a true gain of {size}{more} to be found with "
        "a chance of 80 %)"
    )


def _listed(contrasts: Sequence[Contrast]) -> str:
    return f" ({some(map(_name, contrasts))})" if contrasts else ""


def _name(contrast: Contrast) -> str:
    over = f" over {contrast.against}" if contrast.rival else ""
    return f"{contrast.method}{over} on {place(contrast.graph, contrast.condition)}"


def _too_few_finals(few: Sequence[Contrast]) -> Iterator[str]:
    if few:
        yield (
            f"Too few finals for a verdict in {counted(len(few), 'comparison')} "
            f"({counted(min(contrast.units for contrast in few), 'pair')}, {ENOUGH_UNITS} "
            "needed): `clar-tune extend RUN --finals +N` adds some."
        )


def _too_few_searches(few: Sequence[Contrast]) -> Iterator[str]:
    if few:
        yield (
            f"No verdict in {counted(len(few), 'comparison')}: verdicts about searches need "
            f"{ENOUGH_UNITS} of them (--searches {ENOUGH_UNITS}), and there are "
            f"{max(contrast.units for contrast in few)}. The finals of one search (--searches 1) "
            "judge its configuration."
        )


def _without_spread(equal: Sequence[Contrast]) -> Iterator[str]:
    if equal:
        yield (
            f"No test in {counted(len(equal), 'comparison')}{_listed(equal)}: the gain is the "
            "same in every pair, and without any spread there is nothing to test it against."
        )
