"""``clar-tune run``: plan, search, confirm, store, compare."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.launch import conclude, launch_from, launch_options, output_options, start
from clar_tune.cli.options import Duration, store_option

if TYPE_CHECKING:
    from clar_tune.cluster import Resources
    from clar_tune.space import Options


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas."""

    name = "names"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names; an empty one is refused."""
        names = tuple(name.strip() for name in str(value).split(","))
        if not all(names):
            self.fail(f"{value!r}: write names separated by commas.", param, ctx)
        return names


@click.command()
@click.option("--space", "space_name", required=True, help="Shipped space, or a YAML file.")
@click.option("--graphs", type=Names(), metavar="A,B", help="Only these graphs.")
@click.option("--methods", type=Names(), metavar="A,B", help="Only these methods.")
@click.option(
    "--conditions", type=Names(), metavar="K=V,K=V", help="Only these values of a sweep."
)
@click.option("--trials", type=click.IntRange(1), help="Configurations per study.")
@click.option("--repeats", type=click.IntRange(1), help="Trainings of a trial that is not pruned.")
@click.option("--finals", type=click.IntRange(1), help="Trainings of each winner on fresh splits.")
@click.option("--searches", type=click.IntRange(1), default=1, help="Repeat every search.")
@click.option("--sampler", type=click.Choice(["tpe", "gp", "random", "grid"]))
@click.option("--no-pruning", is_flag=True, help="Train every repeat of every trial.")
@click.option(
    "--selection", type=click.Choice(["loss", "accuracy"]), help="How epochs are selected."
)
@click.option(
    "--outer-test",
    type=float,
    default=0.0,
    metavar="FRACTION",
    help="Test nodes that no search split may hold.",
)
@click.option("--settings", default="tuned", show_default=True, help="tuned, or paper.")
@click.option("--protocol", help="How to split, instead of what the space says.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--trial-timeout",
    type=Duration(),
    default="30m",
    show_default=True,
    help="Longest time of one trial.",
)
@click.option("--name", help="Name of the run.  [default: <space>-<date>-<4 letters>]")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and how long it takes.")
@launch_options
@store_option
@output_options
def run(
    space_name: str,
    name: str | None,
    dry_run: bool,
    no_pruning: bool,
    store: str,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Search a space, confirm every winner on fresh splits, and print the comparison.

    Ctrl-C finishes the trainings under way and stores them; `clar-tune resume` goes on.
    Exit codes: 0 done, or paused by the time budget; 1 an error; 2 wrong usage; 3 ended, but a
    study has no winner or not all finals; 130 interrupted.

    \b
    Examples:
      clar-tune run --space quickstart
      clar-tune run --space heterophily --graphs texas,cornell --trials 12 --time-budget 30m
    """  # noqa: D301
    from clar_tune.space import load_space, make_plan
    from clar_tune.store import Store

    launch = launch_from(given)
    options = options_from(given, launch.resources, no_pruning)
    plan = make_plan(load_space(space_name), options)
    if dry_run:
        from clar_tune.cli.dry_run import show_plan

        show_plan(plan, launch, as_json=as_json)
        return
    conclude(start(Store.open(store), plan, name, launch, quiet=quiet), as_json=as_json)


def options_from(given: dict[str, Any], resources: Resources, no_pruning: bool) -> Options:
    """The options of a run among what its command was given."""
    from clar_tune.space import Options

    names = {field.name for field in dataclasses.fields(Options)} & set(given)
    values = {name: given[name] for name in names}
    return Options(
        **values,
        threads=resources.threads,
        cpus=resources.cpus,
        gpus=resources.gpus,
        pruning=False if no_pruning else None,
    )
