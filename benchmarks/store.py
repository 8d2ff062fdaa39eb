"""Cost of the store: writing a million rows, opening it, and `query` against bare DuckDB.

Both sides of the ratio run in turn in one process. Everything lies in a temporary folder.

    python -m benchmarks.store --rows 1000000
"""

import random
import secrets
import time
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

import click
import duckdb

from benchmarks.memory import megabytes
from clar_tune.rows import JSON, SORTED_JSON, RepeatRow, Row, RunRow, TrialRow
from clar_tune.store import Store, run_query

ROUNDS = 5
BATCH = 50_000
SINGLE = 500
TRIALS = 10_000
GROUPED = "SELECT graph, method, avg(val_score), count(*) FROM {} GROUP BY ALL"
Kind = TypeVar("Kind", bound=Row)


@click.command()
@click.option("--rows", default=1_000_000, show_default=True, type=click.IntRange(1))
@click.option("--folder", type=click.Path(path_type=Path), help="Where the temporary folder lies.")
def main(rows: int, folder: Path | None) -> None:
    """Fill a store, then time what users do with it."""
    with TemporaryDirectory(dir=folder) as scratch:
        root = Path(scratch)
        written = fill(root, rows)
        parts = list(root.glob("repeats/*/*.parquet"))
        size = sum(part.stat().st_size for part in parts)
        bare, ours = in_turn(lambda: bare_duckdb(root), lambda: our_query(root))
        report = {
            "rows in repeats": f"{rows:,}",
            "written in big appends": f"{written / rows * 1e6:.0f} us per row",
            "written one row at a time": f"{single_append(root) * 1e3:.2f} ms per append",
            "Parquet files": f"{len(parts)}, {size / rows:.0f} bytes per row",
            "open and list the runs": f"{timed(lambda: Store.open(root).runs()):.3f} s",
            "group-by, bare DuckDB": f"{bare:.3f} s",
            "group-by, query": f"{ours:.3f} s, {ours / bare:.2f} x",
            f"read {TRIALS:,} trials": f"{timed(lambda: Store.open(root).trials('big')):.3f} s",
            "one key of all": f"{timed(lambda: known_key(root)):.3f} s",
            "peak memory": f"{megabytes('VmHWM'):.0f} MB",
        }
    for name, value in report.items():
        print(f"{name:28}{value}")


def fill(root: Path, rows: int) -> float:
    """Store one run; seconds that its appends took."""
    draw, seconds = random.Random(0), 0.0
    writer = Store.open(root).create("big", some(RunRow))
    base, trial = some(RepeatRow), some(TrialRow)
    for start in range(0, rows, BATCH):
        batch = [repeat(base, draw) for _ in range(min(BATCH, rows - start))]
        seconds += timed(lambda batch=batch: writer.append(batch))
    writer.append([replace(trial, trial=number) for number in range(TRIALS)])
    return seconds + timed(writer.close)


def repeat(base: RepeatRow, draw: random.Random) -> RepeatRow:
    """A row whose columns vary as much as real ones do."""
    params = {"alpha": 10 ** draw.uniform(-3, 1), "beta": draw.random(), "hidden": 64}
    return replace(
        base,
        graph=draw.choice(["actor", "chameleon", "cornell", "squirrel", "texas"]),
        method=draw.choice(["gat", "gcn", "gcn+clar", "gcn+nl", "sage", "sage+clar"]),
        key=secrets.token_hex(8),
        trial=draw.randrange(1000),
        repeat=draw.randrange(9),
        split_seed=draw.randrange(9) << 50,
        init_seed=draw.randrange(9) << 40,
        val_score=draw.random(),
        val_loss=draw.random(),
        seconds=draw.random(),
        epochs=draw.randrange(100, 1000),
        params=params,
    )


def single_append(root: Path) -> float:
    """Seconds for each append of one row."""
    writer = Store.open(root).create("small", some(RunRow))
    row = some(RepeatRow)
    times = [timed(lambda: writer.append([row])) for _ in range(SINGLE)]
    writer.close()
    return median(times)


def bare_duckdb(root: Path) -> None:
    """The group-by without clar-tune."""
    files = f"read_parquet('{root}/repeats/*/*.parquet', hive_partitioning = true)"
    with duckdb.connect() as connection:
        connection.sql(GROUPED.format(files)).to_arrow_table()


def our_query(root: Path) -> None:
    """The group-by as `clar-tune query` does it, the opening of the store included."""
    run_query(Store.open(root), GROUPED.format("repeats"))


def known_key(root: Path) -> None:
    """Find the row of a key, as `repro` does."""
    store = Store.open(root)
    store.find_key(store.table("repeats", "big", ["key"])["key"][0].as_py())


def in_turn(*sides: Callable[[], Any]) -> list[float]:
    """Median seconds of each side; one round of each comes first and does not count."""
    rounds = [[timed(side) for side in sides] for _ in range(ROUNDS + 1)]
    return [median(times) for times in zip(*rounds[1:], strict=True)]


def timed(deed: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    started = time.perf_counter()
    deed()
    return time.perf_counter() - started


def some(kind: type[Kind]) -> Kind:
    """A record with some value in every column."""
    values = {
        **{str: "text", bytes: b"\x80", float: 0.5, "int32": 1, "int64": 1, bool: False},
        **{datetime: datetime.now(UTC), JSON: [], SORTED_JSON: {}},
    }
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{field.name: values[kind_of(hints[field.name])] for field in fields(kind)})


def kind_of(hint: Any) -> Any:
    """The mark of a column's type, or its type; that of one that may be none."""
    if NoneType in get_args(hint):
        hint = next(choice for choice in get_args(hint) if choice is not NoneType)
    return next(iter(getattr(hint, "__metadata__", ())), hint)


if __name__ == "__main__":
    main()
