"""``clar-tune repro``: train one stored row again."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clar_tune.cli.options import store_option

if TYPE_CHECKING:
    from clar_tune.rows import RepeatRow, RunRow
    from clar_tune.search import Difference


@click.command()
@click.argument("key")
@click.option("--run", help="The run that holds the row.  [default: the newest that does]")
@click.option("--data", type=click.Path(path_type=Path), help="Folder with raw graphs.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@store_option
def repro(key: str, run: str | None, data: Path | None, as_json: bool, store: str) -> None:
    """Train one stored row again and compare the numbers.

    KEY, or the beginning of one, stands in the tables `repeats` and `finals`. On the same
    machine, versions and threads the numbers are equal to the last digit. Elsewhere the
    difference and both environments are printed, and up to 0.001 passes.

    \b
    Example:
      clar-tune repro 3f2a9c
    """  # noqa: D301
    from clar_tune.search import plan_of, repeat_training
    from clar_tune.store import Store

    stored, table, row = Store.open(store).find_key(key, run)
    differences = repeat_training(row, plan_of(stored.name, stored.row), data)
    here = _environments(stored.row, row)
    if as_json:
        numbers = {d.name: {"stored": d.stored, "again": d.again} for d in differences}
        click.echo(json.dumps({"key": row.key, "run": stored.name, "numbers": numbers, **here}))
    else:
        what = "final" if table == "finals" else "repeat"
        arm = getattr(row, "arm", "on")
        beside = "" if arm == "on" else f" ({arm})"
        click.echo(
            f"{row.key}: {what} {row.repeat} of trial {row.trial}{beside}, {row.method} on "
            f"{row.graph}, run {stored.name}"
        )
        _print(differences, here)
    same = here["stored"] == here["here"]
    if not all(not d.size if same else d.tolerable for d in differences):
        sys.exit(1)


def _environments(row: RunRow, training: RepeatRow) -> dict[str, dict[str, str]]:
    """What a training's numbers depend on, then and now."""
    from clar_tune.rows import environments
    from clar_tune.search import machine, versions

    def relevant(versions: Mapping[str, str], machine: Mapping[str, str | int]) -> dict[str, str]:
        compiled = ("numba",) if training.cpu else ()
        packages = ("python", "torch", "numpy", "scipy", *compiled)
        return {
            **{name: versions.get(name, "?") for name in packages},
            **{name: str(machine.get(name, "?")) for name in ("processor", "system", "gpus")},
        }

    first, *later = environments(row)
    then = next((found for found in reversed(later) if found.since <= training.started), first)
    stored, here = relevant(then.versions, then.machine), relevant(versions(), machine())
    if training.cpu:  # that of the worker, which may have been another than the driver's
        from clar_tune.engine import TARGET

        stored["cpu"], here["cpu"] = training.cpu, TARGET
    return {"stored": stored, "here": here}


def _print(differences: list[Difference], environments: dict[str, dict[str, str]]) -> None:
    for difference in differences:
        verdict = "equal" if not difference.size else f"differs by {difference.size:.3g}"
        click.echo(
            f"{difference.name:<11} {difference.stored!r:<22} {difference.again!r:<22} {verdict}"
        )
    stored, here = environments["stored"], environments["here"]
    if stored == here:
        return
    click.echo("The environments differ:")
    for name in stored:
        if stored[name] != here[name]:
            click.echo(f"  {name}: {stored[name]} then, {here[name]} now")
