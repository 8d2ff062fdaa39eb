"""``clar-tune report``: the page about a run, as a file or live."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clar_tune.cli.options import store_option
from clar_tune.errors import ParameterError

if TYPE_CHECKING:
    from clar_tune.analysis import RunView
    from clar_tune.report import Figure
    from clar_tune.store import Store

LOOPBACK = "127.0.0.1"
WITH_FILE = ("out", "figures")
WITH_LIVE = ("host", "port")


@click.command()
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Run to report; several are joined into one page.  [default: latest]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="report.html",
    show_default=True,
    help="File to write.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write every figure too: as SVG and PNG, and its data as CSV.",
)
@click.option("--live", is_flag=True, help="Serve the page while the run goes on; Ctrl-C ends it.")
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to serve at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    help="Port to serve at.",
)
@store_option
@click.pass_context
def report(
    ctx: click.Context,
    runs: tuple[str, ...],
    out: Path,
    figures: Path | None,
    live: bool,
    host: str,
    port: int,
    store: str,
) -> None:
    """Write one HTML page about a run: tables, figures, search histories, failures, manifest.

    RUN is a name, the beginning of one, or `latest`. The file needs no network and no server.

    With --live the same page is served and refreshes itself. Only this machine reaches it,
    unless --host says otherwise: then a token is needed, that of $CLAR_TUNE_TOKEN, of 16
    characters or more, or a fresh one, which is printed. It travels unencrypted, as all else
    on the page.

    \b
    Examples:
      clar-tune report --out report.html --figures figures
      clar-tune report --live --port 8000
    """  # noqa: D301
    from clar_tune.store import Store

    _check_together(ctx, live=live)
    if live:
        _serve(Store.open(store), runs, host, port)
        return
    _check_target(out)
    if figures is not None and figures.exists() and not figures.is_dir():
        raise ParameterError(f"--figures {figures} is a file. Name a folder; it need not exist.")
    _write(Store.open(store), runs, out, figures)


def _check_together(ctx: click.Context, *, live: bool) -> None:
    """Refuse options that would do nothing."""
    for name in WITH_FILE if live else WITH_LIVE:
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(
                f"--{name} does nothing {'with' if live else 'without'} --live: leave one out."
            )


def _check_target(out: Path) -> None:
    """Refuse a file that cannot be written, before any work."""
    if out.is_dir():
        raise ParameterError(
            f"--out {out} is a folder. Name a file, such as {out / 'report.html'}."
        )
    if out.exists() and not out.is_file():
        raise ParameterError(f"--out {out} is no file. Name one, such as report.html.")
    if not out.parent.is_dir():
        raise ParameterError(f"--out {out}: there is no folder {out.parent}. Make it first.")
    if not os.access(out.parent, os.W_OK):
        raise ParameterError(f"--out {out}: the folder {out.parent} cannot be written to.")


def _write(store: Store, runs: Sequence[str], out: Path, figures: Path | None) -> None:
    from clar_tune.report import build_page

    views = _views(store, _names(store, runs))
    for line in store.damaged():
        click.echo(f"clar-tune: left out: {line}", err=True)
    _replace(out, build_page(views))
    click.echo(str(out))
    if figures is not None:
        _write_figures(list(_figures(views)), figures)
        click.echo(str(figures))


def _names(store: Store, runs: Sequence[str]) -> list[str]:
    """A run that is named twice counts once."""
    return list(dict.fromkeys(store.find(run).name for run in runs or ["latest"]))


def _views(store: Store, names: Sequence[str]) -> list[RunView]:
    from clar_tune.analysis import read_run

    return [read_run(store, name, curves=True) for name in names]


def _figures(views: Sequence[RunView]) -> Iterator[Figure]:
    """Those of the comparison, then those of every study."""
    from clar_tune.analysis import compare, importances
    from clar_tune.report import of_comparison, of_study

    yield from of_comparison(compare(views), views)
    for view in views:
        for study in view.studies:
            yield from of_study(study, importances(study))


def _write_figures(drawn: list[Figure], folder: Path) -> None:
    """Some hundred figures take a while: a terminal sees how far they are."""
    from clar_tune.report import write_figures

    if not sys.stderr.isatty():
        write_figures(drawn, folder)
        return
    with click.progressbar(drawn, label="figures written", file=sys.stderr) as bar:
        write_figures(bar, folder)


def _replace(out: Path, text: str) -> None:
    """Write a file as a whole: whoever reads it sees the old one or the new one."""
    target = Path(os.path.realpath(out))
    fresh = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ParameterError(f"--out {out} cannot be written: {error.strerror}.") from error


def _serve(store: Store, runs: Sequence[str], host: str, port: int) -> None:
    from clar_tune.report import TOKEN_VARIABLE, Access, LivePage, PageServer

    access = Access.at(host)
    names = _names(store, runs)

    def seen() -> list[tuple[RunView, bool]]:
        return [(view, store.driven(store.find(view.name))) for view in _views(store, names)]

    def tell(line: str) -> None:
        click.echo(f"clar-tune: {line}", err=True)

    with PageServer(host, port, access) as server:
        server.page = LivePage(seen, tell)
        server.page.start()
        click.echo(server.url)
        if access.fresh:
            tell(f"whoever opens it needs a token: {server.url}?token={access.token}")
        elif access.token is not None:
            tell(f"whoever opens it needs the token of ${TOKEN_VARIABLE}: {server.url}?token=…")
        tell(f"serving {', '.join(names)}; Ctrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            tell("ended")
        finally:
            server.page.stop()
