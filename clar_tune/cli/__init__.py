"""The command line: parsing and printing only; heavy imports happen inside each command."""

import sys
from typing import Any

import click

from clar_tune.cli.best import best
from clar_tune.cli.compare import compare
from clar_tune.cli.completion import complete_names
from clar_tune.cli.doctor import doctor
from clar_tune.cli.export import export
from clar_tune.cli.graphs import graphs
from clar_tune.cli.help import ByTask
from clar_tune.cli.manage import note, rename, rm
from clar_tune.cli.query import query
from clar_tune.cli.report import report
from clar_tune.cli.repro import repro
from clar_tune.cli.run import extend, resume, run
from clar_tune.cli.runs import runs, show
from clar_tune.cli.spaces import spaces
from clar_tune.cli.submit import submit
from clar_tune.cli.submitted import logs, status, stop
from clar_tune.cli.train import train
from clar_tune.errors import ClarTuneError
from clar_tune.version import __version__

IMPORTING = frozenset({"run", "resume", "extend", "train", "repro", "spaces", "graphs"})
"""Commands that find a user's own models and graphs in the current folder: those that train, and
those that check what is to be trained. What reads results imports nothing of the user's."""


class _Commands(ByTask):
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
@click.pass_context
def main(ctx: click.Context) -> None:
    """Search, train and compare graph neural networks with and without CLAR."""
    # After all else, so that no file there stands in for a library.
    if ctx.invoked_subcommand in IMPORTING and "" not in sys.path:
        sys.path.append("")


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
for inside in (rm, rename, note):
    runs.add_command(inside)
complete_names(main)
