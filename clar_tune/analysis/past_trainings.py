"""What stored trainings took, for plans of more of their kind."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clar_tune.analysis.layout import Place
from clar_tune.records import Pace
from clar_tune.rows import PlannedStudy, RunRow
from clar_tune.store import Store, StoredRun

RUNS = 3
"""Newest runs of a study that are looked at."""

SIZES = ("hidden", "layers", "heads", "K", "samples", "rounds")
"""Parameters that decide how long an epoch takes: runs with others of them tell nothing."""

COLUMNS = ("graph", "condition", "method", "threads", "device")
"""What rows are told apart by; the first three are the place of a study."""


def paces(
    store: Store,
    studies: Sequence[PlannedStudy],
    machine: Mapping[str, Any],
    *,
    threads: int,
    gpu: bool,
) -> dict[Place, Pace]:
    """By the places of studies, what their trainings took in runs of this store.

    Runs of this machine count alone where there are some; otherwise those of others do.
    """
    wanted = {study.place: study for study in studies}
    runs = sorted(store.runs(), key=lambda run: run.row.machine != machine)  # stable: newest first
    found: dict[Place, list[tuple[bool, dict[str, Any]]]] = defaultdict(list)
    for run in runs:
        here = run.row.machine == machine
        alike = {
            place
            for place in _alike(run.row, wanted)
            if len(found[place]) < RUNS and (here or not any(own for own, _ in found[place]))
        }
        for place, sums in _sums(store, run, threads, gpu) if alike else ():
            if place in alike:
                found[place].append((here, sums))
    return {place: _pace([sums for _, sums in own]) for place, own in found.items() if own}


def _alike(row: RunRow, wanted: Mapping[Place, PlannedStudy]) -> Iterator[Place]:
    """Places of studies that a run has too, by the same engine and of the same sizes."""
    for study in row.planned:
        other = wanted.get(study.place)
        if other is not None and _sizes(study) == _sizes(other):
            yield study.place


def _sizes(study: PlannedStudy) -> list[Any]:
    return [study.engine, *((study.parameters or {}).get(name) for name in SIZES)]


def _sums(
    store: Store, run: StoredRun, threads: int, gpu: bool
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Of each study of a run: trainings, seconds and epochs of its repeats, or of its finals."""
    summed = ("seconds", "epochs", "best_epoch")
    for table in ("repeats", "finals"):  # a store may have been thinned out to its finals
        rows = store.table(table, run.name, [*COLUMNS, *summed])
        sums = [*((name, "sum") for name in summed), ("seconds", "count")]
        found = [
            ((row["graph"], row["condition"], row["method"]), row)
            for row in rows.group_by(COLUMNS).aggregate(sums).to_pylist()
            if row["threads"] == threads and row["device"].startswith("cuda") == gpu
        ]
        yield from found
        if found:
            return


def _pace(sums: Sequence[Mapping[str, Any]]) -> Pace:
    total = {
        name: sum(row[name] for row in sums) for name in sums[0] if name.endswith(("sum", "count"))
    }
    trainings = total["seconds_count"]
    return Pace(
        runs=len(sums),
        trainings=trainings,
        selected=total["best_epoch_sum"] / trainings,
        seconds_per_epoch=total["seconds_sum"] / max(total["epochs_sum"], 1),
    )
