"""``clar-tune runs``, ``show`` and ``best``: what the store holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.options import store_option
from clar_tune.errors import UnknownName

if TYPE_CHECKING:
    from clar_tune.analysis import StudyView
    from clar_tune.rows import RunRow, TrialRow
    from clar_tune.store import Store, StoredRun

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@json_option
@store_option
def runs(as_json: bool, store: str) -> None:
    """List the runs of the store, the newest first.

    \b
    Example:
      clar-tune runs
    """  # noqa: D301
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
            *(duration(run.row.seconds), run.row.graph),
        )
        for run in found
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


@click.command()
@click.argument("run")
@click.option("--origins", is_flag=True, help="Tell whose shared parameters trials tried.")
@json_option
@store_option
def show(run: str, origins: bool, as_json: bool, store: str) -> None:
    """Show a run: its state, its studies, and what failed or was tried again, with causes.

    RUN is a name, the beginning of one, or `latest`.

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


@click.command()
@click.option("--graph", help="Graph of the study; may be left out where there is one.")
@click.option("--method", help="Method of the study; likewise.")
@click.option("--condition", help="Condition of the study, as `show` prints it; likewise.")
@click.option("--run", default="latest", show_default=True, help="The run to look at.")
@store_option
def best(
    graph: str | None, method: str | None, condition: str | None, run: str, store: str
) -> None:
    """Print the winning configuration of a study as YAML.

    \b
    Example:
      clar-tune best --graph csbm-homophily --method gcn+clar
    """  # noqa: D301
    import yaml

    from clar_tune.analysis import best_search, read_run
    from clar_tune.store import Store

    opened = Store.open(store)
    stored = opened.find(run)
    studies = [study for study in read_run(opened, stored.name).studies if study.best]
    named = {"graph": graph, "method": method, "condition": condition}
    wanted = _asked_for(named, studies, stored.name)
    study = best_search([s for s in studies if (s.graph, s.method, s.condition) == wanted])
    if study is None or study.best is None:
        names = [f"{s.graph} {s.method} {s.condition}".strip() for s in studies]
        raise UnknownName(f"winner in {stored.name}", " ".join(wanted).strip(), names)
    row, tested = study.best, [final.test_score for final in study.finals]
    click.echo(f"# {study.method} on {study.graph}, trial {row.trial} of run {stored.name}")
    if row.val_score is not None:
        click.echo(
            f"# mean validation {row.metric} {row.val_score:.4f} over {row.repeats} repeats"
        )
    if tested:
        mean = sum(tested) / len(tested)
        click.echo(f"# mean test {row.metric} {mean:.4f} over {len(tested)} finals")
    click.echo(yaml.safe_dump(dict(row.params), sort_keys=True), nl=False)


def _asked_for(
    named: Mapping[str, str | None], studies: Sequence[StudyView], run: str
) -> tuple[str, ...]:
    """What names a study, where there is but one choice of what was left out."""
    fitting = [s for s in studies if all(v in (None, getattr(s, n)) for n, v in named.items())]
    found, open_ = dict[str, str](), dict[str, list[str]]()
    for side, name in named.items():
        choices = list(dict.fromkeys(getattr(study, side) for study in fitting))
        if name is not None or len(choices) < 2:
            found[side] = name or "".join(choices)
        elif side == "condition" and "" in choices:
            found[side] = ""
        else:
            open_[side] = choices
    if open_:
        listed = "; ".join(f"--{side}: {', '.join(names)}" for side, names in open_.items())
        raise click.UsageError(f"which winner of {run}? {listed}.")
    return tuple(found.values())


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
