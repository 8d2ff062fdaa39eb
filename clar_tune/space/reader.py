"""The text of a space file, read and checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from clar_tune.errors import ClarTuneError, SpaceError
from clar_tune.graphs import Lookup
from clar_tune.paper import TABLES
from clar_tune.space.domains import Choice
from clar_tune.space.layout import read_columns, read_correlate
from clar_tune.space.levels_reader import LEVELS, read_levels
from clar_tune.space.mistakes import Mistakes, each
from clar_tune.space.model import MARGIN, Levels, Space, Sweep
from clar_tune.space.questions import read_questions
from clar_tune.space.settings_reader import (
    BLOCK,
    GROUND,
    RULES,
    SETTINGS,
    ReadSettings,
    read_preprocessing,
    read_settings,
)
from clar_tune.space.single_values import share_of_points
from clar_tune.space.yaml_nodes import Item, read_items
from clar_tune.validation import one_of

if TYPE_CHECKING:
    from clar_tune.models import Method

NEEDED = ("graphs", "methods", "settings")
OPTIONAL = (
    *("description", "paper", "margin", "question", "conditions", "columns", "correlate"),
    *RULES,
    *GROUND,
)

T = TypeVar("T")


def parse_space(text: str, name: str, origin: str, lookup: Lookup | None = None) -> Space:
    """The space that ``text`` describes; ``origin`` names it in errors, usually its file.

    All mistakes are refused together. What depends on a wrong part is not looked at: the
    parameters of methods that there are not, say. ``lookup`` finds its graphs; those of the user's
    own are read, or imported, for that.
    """
    from clar_tune.space.validate import check_space  # it asks methods, which need torch

    lookup, mistakes = lookup or Lookup(), Mistakes()
    items = _parts(read_items(text, origin), mistakes)
    guessed = bool(mistakes)  # what is missing may be what a wrong key was meant to be

    def part(key: str, read: Callable[[Item], T]) -> T | None:
        return mistakes.read(lambda: read(items[key])) if key in items else None

    graphs = part("graphs", lambda item: _distinct(item, partial(_graph, lookup)))
    methods = part("methods", lambda item: _distinct(item, _method))
    sweeps = part("conditions", lambda item: _sweeps(item, methods))
    swept = ("conditions" not in items and not guessed) or sweeps is not None
    columns = part("columns", lambda item: read_columns(item, sweeps or ())) if swept else None
    correlate = part("correlate", lambda i: read_correlate(i, sweeps or ())) if swept else None
    asked = None
    if methods is not None and swept:
        asked = part("question", lambda item: read_questions(item, methods, sweeps or ()))
    read = ReadSettings({}, frozenset())
    if "settings" in items:
        with mistakes.noted():
            read = read_settings(items, graphs, methods, lookup, mistakes)
    space = Space(
        name=name,
        description=part("description", Item.text) or "",
        text=text,
        graphs=graphs or (),
        methods=methods or (),
        conditions=sweeps or (),
        settings=read.settings,
        margin=part("margin", share_of_points) or MARGIN,
        paper=part("paper", _paper),
        columns=columns or (),
        correlate=correlate,
        questions=asked or (),
        lookup=lookup,
    )
    with mistakes.noted():
        check_space(space, items, mistakes, whole=read.whole if swept else frozenset())
    mistakes.check()
    return space


def stored_levels(text: str, settings: str, origin: str) -> Levels:
    """The parameters that the space of a stored run gives; asks no method, and needs no torch."""
    mistakes = Mistakes()
    levels = read_levels(_stored_block(read_items(text, origin), settings), mistakes)
    mistakes.check()
    return levels


def stored_preprocessing(text: str, settings: str, origin: str) -> str:
    """How the space of a stored run prepares its graphs."""
    item = read_items(text, origin)
    return read_preprocessing({**item.entries(), **_stored_block(item, settings)})


def _parts(root: Item, mistakes: Mistakes) -> dict[str, Item]:
    """What stands at the top of a file; there must be what every space needs."""
    items = root.entries((*NEEDED, *OPTIONAL), mistakes)
    missing = [] if mistakes else [f"`{key}`" for key in NEEDED if key not in items]
    if missing:
        others = f", and so must {' and '.join(missing[1:])}" if missing[1:] else ""
        mistakes.note(root.error(f"{missing[0]} is missing. It must be given{others}."))
    return items


def _stored_block(item: Item, settings: str) -> dict[str, Item]:
    """A block of settings of the file that ``item`` is the whole of."""
    for name, allowed in (("settings", (*NEEDED, *OPTIONAL)), (settings, SETTINGS)):
        items = item.entries(allowed)
        if name not in items:
            raise item.error(f"`{name}` is missing.")
        item = items[name]
    return item.entries((*BLOCK, *LEVELS))


def _distinct(item: Item, read: Callable[[str], T]) -> tuple[T, ...]:
    """What ``read`` makes of each text of a list; none may stand twice."""
    found: dict[T, None] = {}

    def add(element: Item) -> None:
        text = element.text()
        with element.blamed():
            value = read(text)
        if value in found:
            raise element.error(f"{text} stands twice. Keep one of them.")
        found[value] = None

    each(add, item.elements())
    return tuple(found)


def _graph(lookup: Lookup, name: str) -> str:
    lookup.dataset(name)
    return name


def _method(name: str) -> Method:
    from clar_tune.models import Method, at_users_line

    method = Method.parse(name)
    try:
        method.parameters()
    except ClarTuneError:
        raise
    except Exception as error:  # a user's own module may raise anything
        reason = f"({type(error).__name__}: {error}){at_users_line(error)}"
        raise SpaceError(f"{name}: cannot be imported {reason}.") from error
    return method


def _paper(item: Item) -> str:
    return item.check(lambda v: one_of("table of the paper", v, TABLES))


def _sweeps(item: Item, methods: tuple[Method, ...] | None) -> tuple[Sweep, ...]:
    """All sweeps; names of methods are judged only if it is known which there are."""
    names = None if methods is None else [method.name for method in methods]
    return tuple(each(lambda block: _sweep(block, names), item.elements()))


def _sweep(block: Item, names: list[str] | None) -> Sweep:
    mistakes = Mistakes()
    items = block.entries(("sweep", "methods"), mistakes)
    entries = items["sweep"].entries() if "sweep" in items else {}
    if not entries and not mistakes:
        mistakes.note(
            block.error("`sweep` is missing or empty. Write `sweep: {parameter: [values]}`.")
        )
    values = {}
    for name, entry in entries.items():
        with mistakes.noted():
            listed = tuple(each(Item.value, entry.elements()))
            with entry.blamed():
                values[name] = Choice(listed).values
    chosen: tuple[str, ...] = ()
    with mistakes.noted():
        if "methods" in items and names is not None:
            chosen = _distinct(items["methods"], lambda name: one_of("method", name, names))
    mistakes.check()
    return Sweep(values, chosen, {name: entry.place for name, entry in entries.items()})
