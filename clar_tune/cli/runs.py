"""``clar-tune runs`` and ``show``: what the store holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from clar_tune.cli.options import run_argument, store_option

if TYPE_CHECKING:
    from clar_tune.analysis import StudyView
    from clar_tune.rows import RunRow, TrialRow
    from clar_tune.store import Store, StoredRun

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@json_option
@store_option
@click.pass_context
def runs(ctx: click.Context, as_json: bool, store: str) -> None:
    """List the runs of the store, the newest first; remove, rename or annotate one.

    \b
    Examples:
      clar-tune runs
      clar-tune runs note latest "wider layers"
    """  # noqa: D301
    if ctx.invoked_subcommand is not None:
        _refuse_before(ctx, ctx.invoked_subcommand)
        return
    from clar_tune.analysis import duration
    from clar_tune.store import Store

    opened = Store.open(store)
    found = opened.runs()
    _warn_of_damage(opened)
    if as_json:
        lines = [
            {"run": run.name, **_head(run.row), "driven": opened.driven(run)} for run in found
        ]
        click.echo(json.dumps(lines, indent=2))
        return
    if not found:
        click.echo(f"no runs in {store}; `clar-tune run --space quickstart` makes one", err=True)
    cells = [
        (
            *(run.name, _state(opened, run), f"{run.row.started:%Y-%m-%d %H:%M}"),
            *(duration(run.row.seconds), run.row.graph, run.row.note),
        )
        for run in found
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


@click.command()
@run_argument()
@click.option("--origins", is_flag=True, help="Tell whose shared parameters trials tried.")
@json_option
@store_option
def show(run: str, origins: bool, as_json: bool, store: str) -> None:
    """Show a run: its state, its studies, and what failed or was tried again, with causes.

    RUN is a name, the beginning of one, or `latest`, which it is if it is left out.

    \b
    Example:
      clar-tune show latest
    """  # noqa: D301
    from clar_tune.analysis import duration, read_run
    from clar_tune.store import Store

    opened = Store.open(store)
    stored = opened.find(run)
    studies = read_run(opened, stored.name).studies
    if as_json:
        views = [_as_dict(study) for study in studies]
        head = {"run": stored.name, **_head(stored.row), "driven": opened.driven(stored)}
        if stored.row.left_out:
            head["left_out"] = list(stored.row.left_out)
        click.echo(json.dumps({**head, "studies": views}, indent=2))
        return
    asked = stored.row.budget["studies"]
    click.echo(
        f"{stored.name}: {_state(opened, stored)}, {len(studies)} of {asked} studies begun, "
        f"{duration(stored.row.seconds)} of work"
    )
    _print_head(stored.row, studies)
    _print_studies(studies)
    _print_exchanges(studies, whole=origins)
    _print_troubles(studies)
    for host in stored.row.broken_hosts:
        click.echo(str(host))


def _refuse_before(ctx: click.Context, command: str) -> None:
    """Options of the list mean nothing to a command behind it, which has a store of its own."""
    for name, option in (("store", "--store"), ("as_json", "--json")):
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} stands before {command}: write it behind, or not.")


def _state(store: Store, run: StoredRun) -> str:
    gone = run.row.state == "running" and not store.driven(run)
    return "running (its driver is gone: resume it)" if gone else run.row.state


def _head(row: RunRow) -> dict[str, Any]:
    return {
        "state": row.state,
        "space": row.space,
        "settings": row.settings,
        "graphs": row.graph.split(","),
        "methods": row.method.split(","),
        "protocol": row.protocol,
        "seed": row.seed,
        "started": row.started.isoformat(),
        "ended": row.ended.isoformat() if row.ended else None,
        "seconds": row.seconds,
        "budget": row.budget,
        **({"note": row.note} if row.note else {}),
    }


def _print_head(row: RunRow, studies: Sequence[StudyView]) -> None:
    from clar_tune.analysis import finals_told, repeats_told

    budget = row.budget
    pruning = f"pruned by {budget['reduction']}" if budget["pruning"] else "not pruned"
    usual, others = repeats_told(budget, row.planned)
    search = f"{budget['trials']} trials by {budget['sampler']}, {usual} repeats {pruning}{others}"
    if studies and all(study.asked == 1 and not study.repeats for study in studies):
        search = "nothing to search"
    click.echo(
        f"space {row.space} ({row.settings}), {row.protocol}, seed {row.seed}: "
        f"per study {search}, {finals_told(budget)}; epochs selected by {budget['select']}"
    )
    if row.note:
        click.echo(f"note: {row.note}")


def _print_studies(studies: Sequence[StudyView]) -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from clar_tune.cli.output import WIDTH, console, print_whole

    conditions = any(study.condition for study in studies)
    gap = 1 if console().width >= WIDTH else 0  # narrow terminals need the room for names
    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0))
    for column in ("graph", "method", *(["condition"] if conditions else [])):
        table.add_column(column, overflow="fold")
    states = ("complete", "pruned", "failed")
    arms = any(study.planned.arms for study in studies)
    for column in ("trials", *states, "retries", "repeats", "best", "finals", *["arms"] * arms):
        table.add_column(column, justify="right", no_wrap=True)
    for study in studies:
        score = study.best.val_score if study.best else None
        table.add_row(
            escape(study.graph),
            escape(study.method) + (f" ({study.search})" if study.search else ""),
            *([escape(study.condition)] if conditions else []),
            f"{len(study.trials)}/{study.asked}" + (" used up" if study.used_up else ""),
            *(str(study.count(state)) for state in states),
            str(sum(trial.retries for trial in study.trials)),
            str(study.repeats),
            "" if score is None else f"{score:.4f}",
            f"{len(study.finals)}/{study.finals_asked}",
            *([_arms(study)] if arms else []),
        )
    print_whole(table)


def _arms(study: StudyView) -> str:
    """Finals of the winner's other arms, of those asked for: ``40/80``."""
    done, asked = study.finals_done - len(study.finals), len(study.arms_asked)
    return f"{done}/{asked * study.finals_asked}" if asked else ""


def _print_exchanges(studies: Sequence[StudyView], *, whole: bool) -> None:
    """Whose shared parameters were tried; unless that is asked for, how often."""
    from clar_tune.analysis import counted

    exchanged = {
        _name(study): [trial for trial in study.trials if trial.shared_from] for study in studies
    }
    count = sum(map(len, exchanged.values()))
    if count and not whole:
        trials = counted(count, "trial")
        click.echo(f"{trials} tried shared parameters of other methods; --origins tells which")
        return
    for study, tried in exchanged.items():
        if tried:
            told = "; ".join(f"trial {trial.trial} from {trial.shared_from}" for trial in tried)
            click.echo(f"{study}, shared parameters of others: {told}")


def _name(study: StudyView) -> str:
    number = f"search {study.search}" if study.search else ""
    return " ".join(filter(None, (study.graph, study.method, study.condition, number)))


def _print_troubles(studies: Sequence[StudyView]) -> None:
    for study in studies:
        alike: dict[str, list[str]] = {}
        for trial in study.trials:
            for line in _troubles(trial):
                alike.setdefault(line, []).append(str(trial.trial))
        for line, trials in alike.items():
            which = f"trial{'s' if len(trials) > 1 else ''} {', '.join(trials)}"
            click.echo(f"{_name(study)}, {which}: {line}")


def _troubles(trial: TrialRow) -> list[str]:
    failed = [f"failed ({trial.failure}): {trial.error}"] if trial.failure else []
    return [*trial.remarks, *failed]


def _as_dict(study: StudyView) -> dict[str, Any]:
    states = ("complete", "pruned", "failed", "running")
    return {
        "graph": study.graph,
        "method": study.method,
        "condition": study.condition,
        "search": study.search,
        "trials": len(study.trials),
        "asked": study.asked,
        **{state: study.count(state) for state in states},
        "retries": sum(trial.retries for trial in study.trials),
        "used_up": study.used_up,
        "exchanged": {
            trial.trial: trial.shared_from for trial in study.trials if trial.shared_from
        },
        "repeats": study.repeats,
        "seconds": study.seconds,
        "winner": study.winner.trial if study.winner else None,
        "val_score": study.best.val_score if study.best else None,
        "finals": len(study.finals),
        "arms": {arm: len(study.arm(arm)) for arm in study.arms_asked},
        "troubles": [
            {"trial": trial.trial, "text": line}
            for trial in study.trials
            for line in _troubles(trial)
        ],
    }


def _warn_of_damage(store: Store) -> None:
    for line in store.damaged():
        click.echo(f"clar-tune: {line}", err=True)
