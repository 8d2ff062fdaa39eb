"""``clar-tune best``: the winner of a study, to be taken along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clar_tune.cli.options import run_argument, store_option
from clar_tune.cli.winner import study_named
from clar_tune.errors import ParameterError
from clar_tune.records import to_stored

if TYPE_CHECKING:
    from clar_tune.analysis import StudyView
    from clar_tune.configuration import Configuration
    from clar_tune.rows import TrialRow


@click.command()
@click.option("--graph", help="Graph of the study; may be left out where there is one.")
@click.option("--method", help="Method of the study; likewise.")
@click.option("--condition", help="Condition of the study, as `show` prints it; likewise.")
@run_argument()
@click.option(
    "--json", "as_json", is_flag=True, help="Print all that trains it again, with its finals."
)
@click.option(
    "--script",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a script that trains it with torch-geometric alone.",
)
@store_option
def best(
    graph: str | None,
    method: str | None,
    condition: str | None,
    run: str,
    as_json: bool,
    script: Path | None,
    store: str,
) -> None:
    """Print the winning configuration of a study as YAML.

    \b
    Examples:
      clar-tune best --graph csbm-homophily --method gcn+clar
      clar-tune best --graph csbm-homophily --method gcn+clar --json > winner.json
      clar-tune train --from winner.json
      clar-tune best --graph cora --method gcn+clar --script winner.py
    """  # noqa: D301
    from clar_tune.analysis import configuration_of

    named = {"graph": graph, "method": method, "condition": condition}
    view, study = study_named(run, named, store)
    if script is not None:
        _write_script(configuration_of(view, study), script)
    if as_json:
        click.echo(json.dumps(to_stored(configuration_of(view, study)), indent=2))
    elif study.best is not None and script is None:
        _print(view.name, study, study.best)


def _write_script(configuration: Configuration, file: Path) -> None:
    """A file that is there already may be the user's own work: it stays."""
    from clar_tune.script import script_of

    text = script_of(configuration, file.name)
    try:
        with file.open("x") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise ParameterError(f"--script {file}: it exists already. Name another file.") from error
    except OSError as error:
        raise ParameterError(f"--script {file}: it cannot be written ({error}).") from error
    click.echo(str(file), err=True)


def _print(run: str, study: StudyView, winner: TrialRow) -> None:
    """The parameters, under what is known of them."""
    import yaml

    click.echo(f"# {study.method} on {study.graph}, trial {winner.trial} of run {run}")
    if winner.val_score is not None:
        reached = f"{winner.metric} {winner.val_score:.4f} over {winner.repeats} repeats"
        click.echo(f"# mean validation {reached}")
    tested = [final.test_score for final in study.finals]
    if tested:
        mean = sum(tested) / len(tested)
        click.echo(f"# mean test {winner.metric} {mean:.4f} over {len(tested)} finals")
    click.echo(yaml.safe_dump(dict(winner.params), sort_keys=True), nl=False)
