"""What a shell completes: names of spaces, graphs, methods and runs, known without torch."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from clar_tune.cli.options import STORE, Names
from clar_tune.errors import ClarTuneError

Known = Callable[[click.Context], Iterable[str]]
"""Names that there are, given what stands on the command line already."""


def complete_names(command: click.Command) -> None:
    """Let shells complete the names that a command, or one inside a group, is given."""
    if isinstance(command, click.Group):
        for inside in command.commands.values():
            complete_names(inside)
    for param in command.params:
        known = NAMES.get(param.name or "")
        if known is not None:
            param.type = Suggested(param.type, known)


class Suggested(click.ParamType[Any]):
    """What another type reads, with names that shells suggest; others are read as well."""

    def __init__(self, read: click.ParamType[Any], known: Known) -> None:
        self.name, self._read, self._known = read.name, read, known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As the other type reads it."""
        return self._read.convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names that begin so; of several joined by commas the last one."""
        listed = isinstance(self._read, Names)
        written, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
        try:
            names = [name for name in self._known(ctx) if name.startswith(begun)]
        except (ClarTuneError, OSError):  # such as a store that cannot be read
            names = []
        found = [CompletionItem(f"{written}{comma}{name}") for name in names]
        # Where a file can be named too, the shell looks for files if no name fits.
        files = [CompletionItem(incomplete, type="file")] if self._known is _spaces else []
        return files + found


def _spaces(ctx: click.Context) -> Iterable[str]:
    from clar_tune.space import shipped_spaces

    return shipped_spaces()


def _graphs(ctx: click.Context) -> Iterable[str]:
    from clar_tune.graphs import DATASETS

    return DATASETS


def _methods(ctx: click.Context) -> Iterable[str]:
    """Those of the space that is named, or of all that ship."""
    from clar_tune.space import shipped_spaces

    shipped, given = shipped_spaces(), ctx.params.get("space_name")
    named = shipped.get(given, Path(given)) if isinstance(given, str) else None
    files = shipped.values() if named is None else [named]
    return dict.fromkeys(name for file in files for name in _methods_in(file))


def _methods_in(file: Path) -> Iterator[str]:
    from clar_tune.space import read_items

    items = read_items(file.read_text(encoding="utf-8"), file.name).entries()
    for element in items["methods"].elements() if "methods" in items else ():
        yield element.text()


def _runs(ctx: click.Context) -> Iterable[str]:
    from clar_tune.store import LATEST, Store

    given = ctx.params.get("store")
    store = Store.open(given if isinstance(given, str) else STORE)
    return [LATEST, *(run.name for run in store.runs())]


NAMES: dict[str, Known] = {
    **dict.fromkeys(("space", "space_name", "files"), _spaces),
    **dict.fromkeys(("graph", "graph_name", "graphs", "names"), _graphs),
    **dict.fromkeys(("method", "method_name", "methods"), _methods),
    **dict.fromkeys(("run", "run_option", "runs", "named", "words"), _runs),
}
"""What is completed, by the names of parameters."""
