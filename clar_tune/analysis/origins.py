"""Methods of joined runs whose spaces give them other ranges: a difference may come from those."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product

from clar_tune.analysis.layout import Place
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.same_ranges import Content, content_of, same_ranges
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.wording import counted

Pair = tuple[Place, Place]
Crossings = Mapping[Pair, tuple[RunView, RunView]]
"""Pairs of places that do not compare, and the runs that are to blame."""


def crossings_of(samples: Mapping[Place, Sample], planned: Iterable[Pair]) -> Crossings:
    """Among the planned comparisons and all pairs within a row."""
    runs = {run.name: run for sample in samples.values() for run in sample.runs}
    if len(runs) < 2:
        return {}
    contents = {
        name: content_of(run.row.space_text, run.row.settings) for name, run in runs.items()
    }
    found = {}
    for one, other in dict.fromkeys([*planned, *_within_rows(samples)]):
        if one in samples and other in samples:
            unlike = _unlike(samples[one], samples[other], contents)
            if unlike:
                found[one, other] = unlike
    return found


def crossing_sentences(crossings: Crossings, planned: Iterable[Pair]) -> Iterator[str]:
    """Which spaces are mixed, and what that does to gains between their methods."""
    gains = set(planned)
    blamed: dict[tuple[str, str], int] = {}
    names: dict[str, str] = {}
    for pair, runs in crossings.items():
        first, second = sorted(run.name for run in runs)
        blamed[first, second] = blamed.get((first, second), 0) + (pair in gains)
        names |= {run.name: f"{run.name} (space {run.row.space})" for run in runs}
    for (first, second), count in blamed.items():
        told = f", and {counted(count, 'gain')} between them get no verdict" if count else ""
        yield (
            f"{names[first]} and {names[second]} search other ranges or fix other values for "
            f"methods that stand in one row: what differs between them may come from that{told}."
        )


def _within_rows(samples: Mapping[Place, Sample]) -> Iterator[Pair]:
    rows: dict[tuple[str, str], list[Place]] = {}
    for place in samples:
        rows.setdefault(place[:2], []).append(place)
    for places in rows.values():
        yield from combinations(places, 2)


def _unlike(
    one: Sample, other: Sample, contents: Mapping[str, Content]
) -> tuple[RunView, RunView] | None:
    """The first two of their runs that give one of both methods other ranges."""
    methods = one.study.method, other.study.method
    for run, against in product(one.runs, other.runs):
        pair = contents[run.name], contents[against.name]
        if not all(same_ranges(*pair, method) for method in methods):
            return run, against
    return None
