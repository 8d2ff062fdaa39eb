"""Print the tables of all parts, or of some.

python -m benchmarks.null_check --part families --part stein
"""

import json
import time
from pathlib import Path

import click

from benchmarks.null_check import (
    corrected,
    families,
    finals,
    networks,
    scopes,
    searches,
)
from benchmarks.null_check.tables import Part, print_row, stored

PARTS: dict[str, Part] = {
    "corrected": corrected.rows,
    "splits": scopes.splits_rows,
    "nodes": scopes.nodes_rows,
    "blocks": scopes.blocks_rows,
    "networks": networks.rows,
    "families": families.rows,
    "looks": families.looks_rows,
    "searches": searches.rows,
    "stein": finals.stein_rows,
    "collapses": finals.collapse_rows,
}


@click.command()
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(list(PARTS)), help="All if none."
)
@click.option("--draws", default=4000, show_default=True, type=click.IntRange(2))
@click.option("--seed", default=0, show_default=True)
@click.option("--out", default="benchmarks/results/null_check", show_default=True, type=Path)
def main(parts: tuple[str, ...], draws: int, seed: int, out: Path) -> None:
    """Count how often intervals, tests and verdicts are wrong, in percent of draws."""
    out.mkdir(parents=True, exist_ok=True)
    for name in parts or PARTS:
        started = time.perf_counter()
        print(f"{name}: {(PARTS[name].__doc__ or '').splitlines()[0]}")
        print(f"{draws} draws a row, seed {seed}; ± is one Monte-Carlo standard error.")
        rows: list[dict[str, object]] = []
        for row in PARTS[name](draws, seed):
            print_row(row, header=not rows)
            rows.append(stored(row))
        record = {"part": name, "draws": draws, "seed": seed, "rows": rows}
        (out / f"{name}.json").write_text(json.dumps(record, indent=1))
        print(f"{time.perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main()
