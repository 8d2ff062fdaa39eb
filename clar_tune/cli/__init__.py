"""The command line: parsing and printing only; heavy imports happen inside each command."""

import sys
from typing import Any

import click

from clar_tune.cli.compare import compare
from clar_tune.cli.doctor import doctor
from clar_tune.cli.export import export
from clar_tune.cli.graphs import graphs
from clar_tune.cli.query import query
from clar_tune.cli.report import report
from clar_tune.cli.repro import repro
from clar_tune.cli.run import extend, resume, run
from clar_tune.cli.runs import best, runs, show
from clar_tune.cli.spaces import spaces
from clar_tune.cli.submit import submit
from clar_tune.cli.submitted import logs, status, stop
from clar_tune.cli.train import train
from clar_tune.errors import ClarTuneError
from clar_tune.version import __version__


class _Commands(click.Group):
    """A group whose expected failures print as one line with exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ClarTuneError as error:
            click.echo(f"clar-tune: {error}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("clar-tune: interrupted", err=True)
            sys.exit(130)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="clar-tune")
def main() -> None:
    """Search, train and compare graph neural networks with and without CLAR."""
    # A user's own backbones and regularizers are found in the current folder.
    sys.path.insert(0, "")


for command in (
    run,
    resume,
    extend,
    submit,
    status,
    logs,
    stop,
    runs,
    show,
    best,
    compare,
    report,
    export,
    query,
    repro,
    train,
    graphs,
    spaces,
    doctor,
):
    main.add_command(command)
