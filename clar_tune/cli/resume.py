"""``clar-tune resume`` and ``extend``: go on with a stored run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import click

from clar_tune.cli.launch import Ended, conclude, launch_from, launch_options, output_options, work
from clar_tune.cli.options import store_option
from clar_tune.cluster import Resources
from clar_tune.errors import ParameterError

if TYPE_CHECKING:
    from clar_tune.cluster import Launch
    from clar_tune.space import Plan
    from clar_tune.store import RunWriter, Store


class More(click.ParamType[int]):
    """``+20`` or ``20``: so many more."""

    name = "more"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """How many more; at least one."""
        text = str(value).removeprefix("+")
        if not text.isdecimal() or int(text) < 1:
            self.fail(f"{value!r}: write how many more, such as +20.", param, ctx)
        return int(text)


@click.command()
@click.argument("run")
@launch_options
@store_option
@output_options
def resume(run: str, store: str, quiet: bool, as_json: bool, **given: Any) -> None:
    """Finish a run that was interrupted, paused or cut off.

    RUN is a name, the beginning of one, or `latest`. Nothing that was stored is trained again;
    the space is the one that the run began with, whatever the file says now.

    \b
    Example:
      clar-tune resume latest --time-budget 30m
    """  # noqa: D301
    _go_on(run, store, {}, given, quiet=quiet, as_json=as_json)


@click.command()
@click.argument("run")
@click.option("--trials", type=More(), metavar="+N", help="More configurations per study.")
@click.option("--finals", type=More(), metavar="+N", help="More trainings of each winner.")
@launch_options
@store_option
@output_options
def extend(
    run: str,
    trials: int | None,
    finals: int | None,
    store: str,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Give a run more trials or finals.

    Where the winner stays, its finals stay; a new winner is confirmed anew.

    \b
    Example:
      clar-tune extend latest --trials +20 --finals +10
    """  # noqa: D301
    if not trials and not finals:
        raise click.UsageError("say what to add: --trials +20, --finals +10, or both.")
    more = {"trials": trials or 0, "finals": finals or 0}
    _go_on(run, store, more, given, quiet=quiet, as_json=as_json)


def _go_on(
    run: str,
    url: str,
    more: dict[str, int],
    given: dict[str, Any],
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    from clar_tune.cluster import load_graphs
    from clar_tune.search import check_graphs, check_numbers, plan_of
    from clar_tune.store import Store

    store = Store.open(url)
    stored = store.find(run)
    if stored.row.state == "finished" and not more:
        click.echo(f"{stored.name} is finished: nothing is left to do", err=True)
        conclude(Ended(store, stored.name, "finished", []), as_json=as_json)
        return
    store.check_free(stored.name)
    check_numbers(stored.name, stored.row)
    plan = _extended(plan_of(stored.name, stored.row), more)
    launch = launch_from(given, Resources(plan.options.cpus, plan.options.gpus))
    _check_threads(plan, launch)
    graphs = load_graphs(plan, launch.data)
    check_graphs(graphs, stored.row)

    def reopen(terminal: TextIO) -> RunWriter:
        return _reopened(store, stored.name, plan, terminal)

    ended = work(store, stored.name, reopen, plan, graphs, launch, quiet=quiet)
    conclude(ended, as_json=as_json)


def _reopened(store: Store, name: str, plan: Plan, terminal: TextIO) -> RunWriter:
    from clar_tune.search import budget, graph_facts, study_plans, with_this_driver

    writer = store.reopen(name)
    if writer.lost:
        terminal.write(
            f"at least {writer.lost} rows were never flushed by the last driver: "
            "their trainings are done again\n"
        )
    writer.update(
        state="running",
        ended=None,
        options=plan.options.stored(),
        budget=budget(plan),
        study_plans=study_plans(plan),
        graph_facts=graph_facts(plan),
        drivers=with_this_driver(writer.row),
    )
    return writer


def _check_threads(plan: Plan, launch: Launch) -> None:
    """A run keeps its threads, which decide its last digits, and needs processors for them."""
    if launch.resources.threads < plan.options.threads:
        raise ParameterError(
            f"--cpus-per-trial {launch.resources.cpus:g}: the run trains with "
            f"{plan.options.threads} threads. Give it as many, or start a new run."
        )


def _extended(plan: Plan, more: dict[str, int]) -> Plan:
    """The plan with a larger budget; the start-up of its searches stays what it was."""
    from clar_tune.space import make_plan

    if not more:
        return plan
    study, options = plan.studies[0], plan.options
    changed = replace(
        options,
        trials=study.rules.trials + more["trials"],
        finals=study.finals + more["finals"],
        first_trials=options.first_trials or study.rules.trials,
    )
    return make_plan(plan.space, changed)
