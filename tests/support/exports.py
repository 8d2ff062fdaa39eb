"""A finished run, and the command that exports it."""

from functools import cache

from click.testing import CliRunner
from support.results import simulated, view

from clar_tune.analysis.runs import RunView
from clar_tune.cli import main


@cache
def run() -> RunView:
    return view(*simulated())


def called(*words: str):
    return CliRunner().invoke(main, ["export", *words])
