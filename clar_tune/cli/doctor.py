"""``clar-tune doctor``: is everything here that a run needs?"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import click

from clar_tune.cli.options import store_option

PACKAGES = (
    *("torch", "torch-geometric", "ray", "optuna", "pyarrow", "duckdb"),
    *("numpy", "scipy"),
)


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder with raw graphs.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@store_option
def doctor(data: Path | None, as_json: bool, store: str) -> None:
    """Check this machine: versions, threads, GPUs, graphs, store, and one short training.

    Exit code 1 if something is wrong.

    \b
    Example:
      clar-tune doctor
    """  # noqa: D301
    checks = [*_versions(), *_hardware(), _graphs(data), _cache(), _store(store), _training()]
    if as_json:
        click.echo(json.dumps([check._asdict() for check in checks], indent=2))
    else:
        for check in checks:
            click.echo(f"{'ok   ' if check.ok else 'WRONG'}  {check.name}: {check.found}")
    if not all(check.ok for check in checks):
        sys.exit(1)


def _versions() -> list[Check]:
    checks = [Check("python", sys.version_info >= (3, 11), sys.version.split()[0])]
    for package in PACKAGES:
        try:
            checks.append(Check(package, True, version(package)))
        except PackageNotFoundError:
            checks.append(Check(package, False, "not installed; run pip install clar-tune"))
    return checks


def _hardware() -> list[Check]:
    import os

    import torch

    checks = [
        Check("processors", True, f"{os.cpu_count()}, torch uses {torch.get_num_threads()}"),
    ]
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = ", ".join(torch.cuda.get_device_name(number) for number in range(gpus))
    return [*checks, Check("GPUs", True, names or "none: trainings run on the CPU")]


def _graphs(data: Path | None) -> Check:
    from clar_tune.datasets import DATASETS, locate
    from clar_tune.errors import ClarTuneError

    try:
        here = [name for name in DATASETS if locate(name, data) is not None]
    except ClarTuneError as error:
        return Check("graphs", False, str(error))
    real = [name for name, dataset in DATASETS.items() if dataset.source is not None]
    hint = "" if here else "; `clar-tune graphs fetch NAME` downloads, generated ones need nothing"
    return Check("graphs", True, f"{len(here)} of {len(real)} real ones are here{hint}")


def _cache() -> Check:
    import tempfile

    from clar_tune.download import cache_folder

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return Check("cache", True, f"{folder} can be written to")
    except OSError as error:
        return Check("cache", False, f"{folder} cannot be written to ({error})")


def _store(url: str) -> Check:
    from clar_tune.errors import ClarTuneError
    from clar_tune.store import Store

    try:
        store = Store.open(url)
        runs = store.runs()
    except ClarTuneError as error:
        return Check("store", False, str(error))
    damaged = store.damaged()
    return Check("store", not damaged, "; ".join(damaged) or f"{url} holds {len(runs)} runs")


def _training() -> Check:
    from clar_tune.datasets import load
    from clar_tune.devices import best_device
    from clar_tune.errors import ClarTuneError
    from clar_tune.methods import Method
    from clar_tune.splits import pair, search_nodes
    from clar_tune.tensors import TensorGraph
    from clar_tune.training import train

    try:
        graph, protocol = load("csbm-homophily"), "balanced-60-20-20"
        seeds = pair(graph.name, protocol, 0, 0, "repeat")
        spec = Method("gcn", "clar").spec(graph, {}, protocol, seeds, max_epochs=20)
        nodes = search_nodes(graph, protocol, spec.split_seed)
        fit = train(spec, TensorGraph.of(graph, best_device()), nodes)
    except (ClarTuneError, RuntimeError) as error:
        return Check("training", False, str(error))
    return Check("training", True, f"gcn+clar, 20 epochs in {fit.record.seconds:.2f} s")
