"""``clar-tune submit``: let a cluster drive a run by itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from clar_tune import api
from clar_tune.cli.run import NOTHING_TO_ADD, OWN, extend, launch_from, options_from, resume, run
from clar_tune.errors import ClusterError, ParameterError, StoreError
from clar_tune.store import LATEST

if TYPE_CHECKING:
    from clar_tune.cluster import Jobs

COMMANDS: dict[str, click.Command] = {"run": run, "resume": resume, "extend": extend}
DASHBOARD = "http://127.0.0.1:8265"

_PATIENCE = 3600.0  # seconds: a training under way is finished before a stopped run ends


class Order(NamedTuple):
    """A command that was checked as far as this machine can tell."""

    verb: str
    run: str
    words: list[str]
    needed: list[Path]
    """Files of the working directory that it cannot do without."""
    patience: float


def _address(context: click.Context, option: click.Parameter, given: str | None) -> str:
    """The dashboard; Ray's variables count where they hold the address of one."""
    usual = (os.environ.get(name, "") for name in ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"))
    address = given or next((value for value in usual if "://" in value), DASHBOARD)
    address = address if "://" in address else f"http://{address}"
    if not address.startswith(("http://", "https://")):
        raise click.BadParameter(f"{address!r}: write http://HOST:PORT.", context, option)
    return address.rstrip("/")


address_option = click.option(
    "--address",
    callback=_address,
    metavar="URL",
    help=f"Dashboard of the cluster.  [default: $RAY_API_SERVER_ADDRESS, then {DASHBOARD}]",
)


@click.command(context_settings={"allow_interspersed_args": False})
@address_option
@click.option(
    "--working-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="Folder that travels along: the space file, your own models.",
)
@click.argument("command", type=click.Choice(list(COMMANDS)))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS]...")
def submit(address: str, working_dir: Path, command: str, arguments: tuple[str, ...]) -> None:
    """Have `run`, `resume` or `extend` done by a cluster, which goes on without this machine.

    COMMAND and its ARGUMENTS are checked here and run on the head, which holds the store:
    --store names a folder there or, better, a bucket. The working directory travels without
    hidden files, results, graphs, and what .gitignore or .rayignore name; --data and the
    credentials of a bucket are those of the head. The job is named after its run:
    `clar-tune status`, `logs` and `stop` take that name.

    \b
    Examples:
      clar-tune submit run --space my-space.yaml --store s3://bucket/results
      clar-tune submit --address http://127.0.0.1:8265 resume my-run --store s3://bucket/results
    """  # noqa: D301
    folder = working_dir.absolute()
    # A user's own backbones and regularizers are found there, as they will be on the head.
    sys.path.insert(0, str(folder))
    order = _checked(command, list(arguments), folder)
    jobs = connect(address)

    from clar_tune.cluster import packed

    if command != "run":
        order = _in_full(order, jobs)
    with packed(folder, order.needed) as archive:
        words = [order.verb, "--address", "auto", *order.words]
        job = jobs.submit(order.run, words, archive, order.patience)
    click.echo(job.run)
    click.echo(
        f"submitted as job {job.id} to {address}; see clar-tune status {job.run}, "
        f"clar-tune logs {job.run} --follow, clar-tune stop {job.run}",
        err=True,
    )


def connect(address: str) -> Jobs:
    """The jobs of a cluster; Ray is loaded only now."""
    from clar_tune.cluster import is_loopback, prepare

    prepare(address)
    from clar_tune.cluster import Jobs

    if address.startswith("http://") and not is_loopback(address):
        click.echo(
            f"clar-tune: {address} is not encrypted: whoever listens on the way sees the token. "
            "Better: ssh -L 8265:localhost:8265 HEAD",
            err=True,
        )
    return Jobs(address)


def _checked(verb: str, words: list[str], folder: Path) -> Order:
    """What the command itself would refuse is refused here, before anything travels."""
    context = COMMANDS[verb].make_context(f"clar-tune submit {verb}", list(words))
    given = dict(context.params)
    if _typed(context, "address"):
        raise click.UsageError(
            "--address belongs before the command: clar-tune submit --address URL "
            f"{verb} …; on the head the run joins its own cluster.",
            context,
        )
    if given["data"] is not None and not given["data"].is_absolute():
        raise ParameterError(
            f"--data {given['data']}: graphs do not travel. Give the absolute path of a folder "
            "on the head, or leave it out."
        )
    words = _with(words, "--store", _store(context))
    if verb == "run":
        return _checked_run(given, words, folder)
    if verb == "extend" and not (given["trials"] or given["finals"] or given["ablation"]):
        raise click.UsageError(NOTHING_TO_ADD, context)
    launch_from(given).resources()  # refuses what no trial can have
    return Order(verb, given["run"], words, [], _PATIENCE)


def _checked_run(given: dict[str, Any], words: list[str], folder: Path) -> Order:
    from clar_tune.cluster import modules_of
    from clar_tune.space import shipped_spaces
    from clar_tune.store import check_name, fresh_name

    own = {name: given.pop(name) for name in OWN}
    if own["dry_run"]:
        raise click.UsageError("--dry-run submits nothing: use clar-tune run --dry-run.")
    launch, options = launch_from(given), options_from(given)
    plan = api.plan_run(own["space_name"], options, launch)
    name = own["name"] or fresh_name(plan.space.name)
    check_name(name)
    needed = [_inside(place, folder) for place in modules_of(s.method for s in plan.studies)]
    if own["space_name"] not in shipped_spaces():
        needed.append(_inside(Path(own["space_name"]), folder))
        words = _with(words, "--space", needed[-1].as_posix())
    patience = max(_PATIENCE, options.trial_timeout + 60)
    return Order("run", name, _with(words, "--name", name), needed, patience)


def _in_full(order: Order, jobs: Jobs) -> Order:
    """With the whole name of its run, as far as the cluster knows it."""
    runs = {job.run for job in jobs.all()}
    if order.run in runs or (order.run != LATEST and not _begins(order.run, runs)):
        return order
    found = jobs.find(order.run).run
    words = [found if word == order.run else word for word in order.words]
    return order._replace(run=found, words=words)


def _begins(text: str, names: set[str]) -> bool:
    return any(name.startswith(text) for name in names)


def _store(context: click.Context) -> str:
    """A store that outlives the job: relative folders would lie in its temporary directory."""
    from clar_tune.store import refuse_credentials

    store: str = context.params["store"]
    if context.get_parameter_source("store") == ParameterSource.DEFAULT:
        raise StoreError(
            "where to? Give --store: a bucket such as s3://bucket/folder, or the absolute path "
            "of a folder on the head."
        )
    if "://" in store:
        refuse_credentials(store)
    elif not Path(store).is_absolute():
        raise StoreError(
            f"store {store!r} would lie in the job's temporary folder and go with it. Give a "
            "bucket such as s3://bucket/folder, or the absolute path of a folder on the head."
        )
    return store


def _inside(file: Path, folder: Path) -> Path:
    """A file by its path in the working directory."""
    try:
        return file.absolute().resolve().relative_to(folder.resolve())
    except ValueError:
        raise ClusterError(
            f"{file} lies outside the working directory {folder} and would stay behind. "
            "Move it, or give a --working-dir that holds it."
        ) from None


def _typed(context: click.Context, option: str) -> bool:
    return context.get_parameter_source(option) == ParameterSource.COMMANDLINE


def _with(words: list[str], option: str, value: str) -> list[str]:
    """The words of a command with this value of an option, and no other."""
    kept, skipped = [option, value], False
    for word in words:
        if skipped or word.startswith(f"{option}="):
            skipped = False
        elif word == option:
            skipped = True
        else:
            kept.append(word)
    return kept
