"""``clar-tune doctor``: is everything here that a run needs?"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clar_tune.cli.options import store_option
from clar_tune.cluster import Check

if TYPE_CHECKING:
    from clar_tune.store import Store

PACKAGES = (
    *("clar-tune", "torch", "torch-geometric", "ray", "optuna", "pyarrow", "duckdb"),
    *("numpy", "scipy"),
)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder with raw graphs.")
@click.option(
    "--address", help="Check a cluster too: auto or HOST:PORT, from one of its machines."
)
@click.option("--gpu", is_flag=True, help="Test every GPU instead, before a search trusts it.")
@click.option(
    "--gpus-per-trial",
    type=float,
    default=1.0,
    show_default=True,
    help="With --gpu: the share of a device that trials will have.",
)
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    default="cuda",
    show_default=True,
    help="With --gpu: cpu tries the test itself, on processors and logical GPUs.",
)
@click.option("--quick", is_flag=True, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@store_option
def doctor(
    data: Path | None,
    address: str | None,
    gpu: bool,
    gpus_per_trial: float,
    device: str,
    quick: bool,
    as_json: bool,
    store: str,
) -> None:
    """Check this machine: versions, threads, GPUs, graphs, store, and one short training.

    With --address every machine of a cluster is checked as well: versions as here, GPUs that
    torch really sees, memory, cache; and that nobody gets in with a wrong token. Exit code 1 if
    something is wrong.

    With --gpu every device is put to the test instead, in under three minutes each: what it
    computes against the CPU, whether twice the same, memory shares, faults, speed.

    \b
    Examples:
      clar-tune doctor
      clar-tune doctor --address auto --store s3://bucket/results
      clar-tune doctor --gpu --gpus-per-trial 0.25
    """  # noqa: D301
    if gpu:
        from clar_tune.cli.gpu_report import check_and_show

        given = (address or "local", gpus_per_trial, device)
        sys.exit(0 if check_and_show(*given, quick=quick, as_json=as_json) else 1)
    checks = [
        *_versions(),
        *_hardware(),
        _graphs(data, shared=address is not None),
        _cache(),
        *_engine(),
        *_store(store),
        _token(),
        _training(),
        *(_cluster(address) if address not in (None, "local") else []),
    ]
    if as_json:
        lines = [{"name": one.name, "ok": one.ok, "found": one.found} for one in checks]
        click.echo(json.dumps(lines, indent=2))
    else:
        for check in checks:
            click.echo(f"{'ok   ' if check.ok else 'WRONG'}  {check.name}: {check.found}")
    if not all(check.ok for check in checks):
        sys.exit(1)


def _versions() -> list[Check]:
    from clar_tune.cluster import installed

    checks = [Check("python", sys.version_info >= (3, 11), sys.version.split()[0])]
    for package in PACKAGES:
        found = installed(package)
        hint = "not installed; run pip install clar-tune"
        checks.append(Check(package, bool(found), found or hint))
    return checks


def _hardware() -> list[Check]:
    import torch

    checks = [
        Check("processors", True, f"{os.cpu_count()}, torch uses {torch.get_num_threads()}"),
    ]
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = ", ".join(torch.cuda.get_device_name(number) for number in range(gpus))
    return [*checks, Check("GPUs", True, names or "none: trainings run on the CPU")]


def _graphs(data: Path | None, *, shared: bool) -> Check:
    from clar_tune.errors import ClarTuneError
    from clar_tune.graphs import DATASETS, locate

    try:
        here = [name for name in DATASETS if locate(name, data) is not None]
    except ClarTuneError as error:
        return Check("graphs", False, str(error))
    real = [name for name, dataset in DATASETS.items() if dataset.source is not None]
    hint = "" if here else "; `clar-tune graphs fetch NAME` downloads, generated ones need nothing"
    travel = "; a driver here sends them to all machines through Ray" if shared else ""
    return Check("graphs", True, f"{len(here)} of {len(real)} real ones are here{hint}{travel}")


def _cache() -> Check:
    from clar_tune.cluster import unwritable_cache
    from clar_tune.graphs import cache_folder

    wrong = unwritable_cache()
    return Check("cache", not wrong, wrong or f"{cache_folder()} can be written to")


def _engine() -> list[Check]:
    """Can trainings be compiled here, and what is left to torch?"""
    from clar_tune.engine import LEFT_TO_TORCH, MISSING, has_numba

    if not has_numba():
        found = "numba is not installed: torch trains everything"
        return [Check("native engine", True, found)]
    from clar_tune.engine import TARGET, cache_folder, may_use_cache

    kept, folder = may_use_cache(), cache_folder()
    wrong = f"{folder} cannot be written to, or others can: every process compiles anew"
    return [
        Check("native engine", True, f"compiles for {TARGET}"),
        Check("engine cache", kept, f"{folder} is yours alone" if kept else wrong),
        *(Check("left to torch", True, f"{one.what}: {one.why}") for one in LEFT_TO_TORCH),
        *(Check("missing in native", True, f"{one.what}: {one.why}") for one in MISSING),
    ]


def _store(url: str) -> list[Check]:
    from clar_tune.errors import ClarTuneError
    from clar_tune.store import Store

    try:
        store = Store.open(url)
        runs = store.runs()
        _write_into(url)
    except ClarTuneError as error:
        return [Check("store", False, str(error))]
    damaged = store.damaged()
    found = f"{store.url} holds {len(runs)} runs and can be written to"
    return [Check("store", not damaged, "; ".join(damaged) or found), _fence(store)]


def _fence(store: Store) -> Check:
    """Can the store keep out a driver that was overtaken?"""
    from clar_tune.errors import StoreError

    try:
        how = store.check_fence()
    except StoreError as error:
        return Check("fencing", False, str(error))
    return Check("fencing", True, f"drivers that were overtaken are kept out {how}")


def _write_into(url: str) -> None:
    """Write a small file, read it and take it away again; a new folder goes with it."""
    import secrets

    from clar_tune.errors import StoreError
    from clar_tune.store import Files, resolve

    files = Files(*resolve(url))
    name, written = f".probe-{secrets.token_hex(4)}", b"clar-tune doctor\n"
    fresh = _missing(Path(files.root)) if files.local else []
    try:
        files.write(name, written)
        if files.read(name) != written:
            raise StoreError(f"{files.shown(name)} does not hold what was written into it.")
        files.delete(name)
    finally:
        for folder in fresh:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _missing(folder: Path) -> list[Path]:
    """The folder and those above it, as far as they do not exist, the innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _token() -> Check:
    """The secret of clusters, where Ray looks for it; its text is not read."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return Check("token", True, "in RAY_AUTH_TOKEN")
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    file = Path(named).expanduser() if named else Path.home() / ".ray" / "auth_token"
    if not file.is_file() or not file.stat().st_size:
        found = f"{file} is not there; clusters need one: `ray get-auth-token --generate`"
        return Check("token", not named, found)
    mode = file.stat().st_mode & 0o777
    if _open_to_others(file):
        return Check("token", False, f"other users can read {file}: chmod 600 it")
    hint = "" if mode == 0o600 else f", with mode {mode:03o}; 600 is safer"
    return Check("token", True, f"{file} is there{hint}")


def _open_to_others(file: Path) -> bool:
    folders = file.absolute().resolve().parents
    return bool(file.stat().st_mode & 0o004) and all(f.stat().st_mode & 0o001 for f in folders)


def _training() -> Check:
    from clar_tune.errors import ClarTuneError
    from clar_tune.graphs import load, search_nodes, seed_pair
    from clar_tune.models import Method, TensorGraph
    from clar_tune.training import best_device, train

    try:
        graph, protocol = load("csbm-homophily"), "balanced-60-20-20"
        seeds = seed_pair(graph.name, protocol, 0, 0, "repeat")
        device = best_device()
        rules = {"max_epochs": 20, "device": device.type}
        spec = Method("gcn", "clar").spec(graph, {}, protocol, seeds, **rules)
        nodes = search_nodes(graph, protocol, spec.split_seed)
        fit = train(spec, TensorGraph.of(graph, device), nodes)
    except (ClarTuneError, RuntimeError) as error:
        return Check("training", False, str(error))
    return Check("training", True, f"gcn+clar, 20 epochs in {fit.record.seconds:.2f} s")


def _cluster(address: str) -> list[Check]:
    from clar_tune.cluster import prepare

    prepare(address)
    from clar_tune.cluster import inspect

    return inspect(address)
