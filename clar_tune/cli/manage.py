"""``clar-tune runs rm``, ``rename`` and ``note``: runs put in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.options import run_argument, store_option
from clar_tune.cli.run import say, single_driver_option, take_over_option
from clar_tune.errors import ParameterError

if TYPE_CHECKING:
    from clar_tune.store import Store

LONGEST_NOTE = 500

Command = Callable[..., None]


def _access_options(command: Command) -> Command:
    """Where the run is, and how it is come to if its driver ended without a word."""
    return take_over_option(single_driver_option(store_option(command)))


def _run_option(command: Command) -> Command:
    return click.option("--run", metavar="RUN", help="The same as the argument RUN.")(command)


@click.command()
@run_argument(default=None, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@_access_options
def rm(run: str, yes: bool, **given: Any) -> None:
    """Remove a run with all of its rows.

    RUN is a name, the beginning of one, or `latest`. A run that a driver works on is refused.

    \b
    Example:
      clar-tune runs rm first --yes
    """  # noqa: D301
    store = _opened(**given)
    name = store.find(run).name
    if not yes:
        click.confirm(f"Remove run {name} from {store.url} for good?", abort=True, err=True)
    store.remove(name)
    click.echo(f"removed {name}")


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[RUN] NEW")
@_run_option
@_access_options
def rename(words: tuple[str, ...], run: str | None, **given: Any) -> None:
    """Give a run another name.

    RUN is a name, the beginning of one, or `latest`. A run that a driver works on is refused.

    \b
    Example:
      clar-tune runs rename first baseline
    """  # noqa: D301
    text, new = _both(words, run, "NEW")
    store = _opened(**given)
    name = store.find(text).name
    store.rename(name, new)
    click.echo(f"{name} is {new} now")


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[RUN] TEXT")
@_run_option
@_access_options
def note(words: tuple[str, ...], run: str | None, **given: Any) -> None:
    """Note in a run what it was for; `runs` and `show` print it.

    RUN is a name, the beginning of one, or `latest`. An empty text removes the note. A run that
    a driver works on is refused.

    \b
    Example:
      clar-tune runs note latest "wider layers, as the referee asked"
    """  # noqa: D301
    name, text = _both(words, run, "TEXT")
    line = " ".join(text.split())
    if len(line) > LONGEST_NOTE or not line.isprintable():
        raise ParameterError(
            f"a note has at most {LONGEST_NOTE} printable characters, got {len(line)}. Shorten it."
        )
    store = _opened(**given)
    store.note(store.find(name).name, line)


def _opened(store: str, take_over: bool, single_driver: bool) -> Store:
    from clar_tune.store import Access, Store

    return Store.open(store, access=Access(take_over, single_driver, say))


def _both(words: tuple[str, ...], run: str | None, what: str) -> tuple[str, str]:
    """The run and the other word; the run may stand behind its option instead."""
    given = words if run is None else (run, *words)
    if len(given) != 2:
        path = click.get_current_context().command_path
        raise click.UsageError(f"write {path} RUN {what}, and quote what has spaces.")
    return given[0], given[1]
