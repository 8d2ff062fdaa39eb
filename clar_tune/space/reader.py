"""The text of a space file, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from clar_tune.errors import ClarTuneError, SpaceError
from clar_tune.graphs import dataset_named
from clar_tune.paper import TABLES
from clar_tune.space.domains import Choice
from clar_tune.space.layout import read_columns, read_correlate
from clar_tune.space.levels_reader import LEVELS, read_levels
from clar_tune.space.model import MARGIN, Levels, Space, Sweep
from clar_tune.space.settings_reader import (
    BLOCK,
    GROUND,
    RULES,
    SETTINGS,
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
    *("description", "paper", "margin", "conditions", "columns", "correlate"),
    *RULES,
    *GROUND,
)

T = TypeVar("T")


def parse_space(text: str, name: str, origin: str) -> Space:
    """The space that ``text`` describes; ``origin`` names it in errors, usually its file."""
    from clar_tune.space.validate import check_space  # it asks methods, which need torch

    root = read_items(text, origin)
    items = root.entries((*NEEDED, *OPTIONAL))
    for needed in NEEDED:
        if needed not in items:
            raise root.error(f"`{needed}` is missing. It must be given.")
    graphs = _distinct(items["graphs"], _graph)
    methods = _distinct(items["methods"], _method)
    sweeps = _sweeps(items["conditions"], methods) if "conditions" in items else ()
    space = Space(
        name=name,
        description=items["description"].text() if "description" in items else "",
        text=text,
        graphs=graphs,
        methods=methods,
        conditions=sweeps,
        settings=read_settings(items, graphs, methods),
        margin=share_of_points(items["margin"]) if "margin" in items else MARGIN,
        paper=_paper(items),
        columns=read_columns(items["columns"], sweeps) if "columns" in items else (),
        correlate=read_correlate(items["correlate"], sweeps) if "correlate" in items else None,
    )
    check_space(space, items)
    return space


def stored_levels(text: str, settings: str, origin: str) -> Levels:
    """The parameters that the space of a stored run gives; asks no method, and needs no torch."""
    return read_levels(_stored_block(read_items(text, origin), settings))


def stored_preprocessing(text: str, settings: str, origin: str) -> str:
    """How the space of a stored run prepares its graphs."""
    item = read_items(text, origin)
    return read_preprocessing({**item.entries(), **_stored_block(item, settings)})


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
    for element in item.elements():
        text = element.text()
        with element.blamed():
            value = read(text)
        if value in found:
            raise element.error(f"{text} stands twice. Keep one of them.")
        found[value] = None
    return tuple(found)


def _graph(name: str) -> str:
    dataset_named(name)
    return name


def _method(name: str) -> Method:
    from clar_tune.models import Method

    method = Method.parse(name)
    try:
        method.parameters()
    except ClarTuneError:
        raise
    except Exception as error:  # a user's own module may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise SpaceError(f"{name}: cannot be imported ({reason}).") from error
    return method


def _paper(items: Mapping[str, Item]) -> str | None:
    if "paper" not in items:
        return None
    return items["paper"].check(lambda v: one_of("table of the paper", v, TABLES))


def _sweeps(item: Item, methods: tuple[Method, ...]) -> tuple[Sweep, ...]:
    return tuple(_sweep(block, [method.name for method in methods]) for block in item.elements())


def _sweep(block: Item, names: list[str]) -> Sweep:
    items = block.entries(("sweep", "methods"))
    entries = items["sweep"].entries() if "sweep" in items else {}
    if not entries:
        raise block.error("`sweep` is missing or empty. Write `sweep: {parameter: [values]}`.")
    values = {}
    for name, entry in entries.items():
        listed = tuple(element.value() for element in entry.elements())
        with entry.blamed():
            values[name] = Choice(listed).values
    chosen: tuple[str, ...] = ()
    if "methods" in items:
        chosen = _distinct(items["methods"], lambda name: one_of("method", name, names))
    return Sweep(values, chosen, {name: entry.place for name, entry in entries.items()})
