"""``clar-tune status``, ``logs`` and ``stop``: runs that a cluster drives."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.submit import address_option, connect

if TYPE_CHECKING:
    from clar_tune.cluster import Job, Jobs

_POLL = 1.0  # seconds between two looks at a job that is to end


@click.command()
@click.argument("run", required=False)
@address_option
@click.option("--store", metavar="STORE", help="Read how far the runs are from their store.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(run: str | None, address: str, store: str | None, as_json: bool) -> None:
    """Show submitted runs, the newest first: state, start, duration.

    RUN is a name, the beginning of one, or `latest`. With it the exit code is that of the run:
    0 as long as it goes and when it is done, 130 if it was stopped, and what it failed with.

    \b
    Example:
      clar-tune status latest
    """  # noqa: D301
    jobs = connect(address)
    found = [jobs.find(run)] if run else jobs.all()
    progress = _progress(store, {job.run for job in found}) if store else {}
    if as_json:
        lines = [{**_as_dict(job), "progress": progress.get(job.run)} for job in found]
        click.echo(json.dumps(lines[0] if run else lines, indent=2))
    else:
        if not found:
            click.echo(f"no runs were submitted to {address}", err=True)
        for job in found:
            _print(job, progress.pop(job.run, None))  # it belongs to the newest job of its run
    if run:
        _print_last_words(jobs, found[0], as_json=as_json)
        sys.exit(found[0].exit_code)


@click.command()
@click.argument("run")
@address_option
@click.option("--follow", "-f", is_flag=True, help="Go on until the run ends.")
def logs(run: str, address: str, follow: bool) -> None:
    """Print what a submitted run has printed: its progress, then its comparison.

    RUN is a name, the beginning of one, or `latest`. With --follow the exit code is that of
    the run; Ctrl-C ends the looking on, not the run.

    \b
    Example:
      clar-tune logs latest --follow
    """  # noqa: D301
    jobs = connect(address)
    job = jobs.find(run)
    if not follow:
        click.echo(jobs.log(job), nl=False)
        return
    ended = jobs.follow(job, lambda lines: click.echo(lines, nl=False))
    sys.exit(ended.exit_code)


@click.command()
@click.argument("run")
@address_option
@click.option("--wait", is_flag=True, help="Return when it has ended.")
def stop(run: str, address: str, wait: bool) -> None:
    """Stop a submitted run: trainings under way are finished and stored first.

    RUN is a name, the beginning of one, or `latest`. `clar-tune submit resume` goes on with
    it later.

    \b
    Example:
      clar-tune stop latest --wait
    """  # noqa: D301
    jobs = connect(address)
    job = jobs.find(run)
    if job.ended is not None or not jobs.stop(job):
        click.echo(f"{job.run} had ended before ({jobs.again(job.id).state})", err=True)
        return
    click.echo(f"{job.run} finishes the trainings under way, then it ends", err=True)
    while wait and job.ended is None:
        time.sleep(_POLL)
        job = jobs.again(job.id)
    if wait:
        click.echo(f"{job.run} has ended ({job.state})", err=True)


def _print(job: Job, progress: dict[str, Any] | None) -> None:
    from clar_tune.analysis import duration

    parts = [
        job.run,
        job.command,
        job.state,
        f"{job.started:%Y-%m-%d %H:%M}",
        duration(job.seconds),
    ]
    if progress:
        parts.append(
            f"{progress['state']}, {progress['studies']} of {progress['studies_asked']} studies "
            f"begun, {progress['trials']} trials and {progress['finals']} finals done"
        )
    click.echo("  ".join(parts))
    if job.message:
        click.echo(f"  {job.message}")


def _print_last_words(jobs: Jobs, job: Job, *, as_json: bool) -> None:
    """The last line of a run that goes is its progress."""
    if as_json or job.ended is not None:
        return
    lines = [line for line in jobs.log(job).splitlines() if line.strip()]
    click.echo(f"  {lines[-1].strip()}" if lines else "  nothing is printed yet")


def _as_dict(job: Job) -> dict[str, Any]:
    return {
        "run": job.run,
        "job": job.id,
        "command": job.command,
        "state": job.state,
        "started": job.started.isoformat(),
        "ended": job.ended.isoformat() if job.ended else None,
        "seconds": round(job.seconds, 1),
        "exit_code": None if job.ended is None else job.exit_code,
        "message": job.message or None,
    }


def _progress(url: str, names: set[str]) -> dict[str, dict[str, Any]]:
    """What the store knows about runs; nothing about one that has not begun there."""
    from clar_tune.analysis import read_run
    from clar_tune.store import Store

    store = Store.open(url)
    found = {}
    for run in store.runs():
        if run.name in names:
            studies = read_run(store, run.name).studies
            found[run.name] = {
                "state": run.row.state,
                "studies": len(studies),
                "studies_asked": run.row.budget["studies"],
                "trials": sum(len(study.trials) - study.count("running") for study in studies),
                "finals": sum(study.finals_done for study in studies),
            }
    return found
