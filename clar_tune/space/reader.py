"""The text of a space file, read and checked."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from clar_tune.errors import ClarTuneError, SpaceError
from clar_tune.graphs.catalogue import dataset_named
from clar_tune.graphs.graph import PREPROCESSINGS
from clar_tune.graphs.splits import check_protocol
from clar_tune.models.method import Method
from clar_tune.paper import TABLES
from clar_tune.space.domains import Choice
from clar_tune.space.entries import LEVELS, RULES, read_levels, with_rules
from clar_tune.space.layout import read_columns, read_correlate
from clar_tune.space.model import Settings, Space, Sweep
from clar_tune.space.validate import check_space
from clar_tune.space.yaml_nodes import Item, read_items
from clar_tune.validation import one_of

NEEDED = ("graphs", "methods", "protocol", "settings")
OPTIONAL = (
    *("description", "paper", "preprocessing", "conditions", "columns", "correlate"),
    *RULES,
)
SETTINGS = ("tuned", "paper")

T = TypeVar("T")


def parse_space(text: str, name: str, origin: str) -> Space:
    """The space that ``text`` describes; ``origin`` names it in errors, usually its file."""
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
        protocols=_protocols(items["protocol"], graphs),
        preprocessing=_preprocessing(items),
        conditions=sweeps,
        settings=_settings(items, methods),
        paper=_paper(items),
        columns=read_columns(items["columns"], sweeps) if "columns" in items else (),
        correlate=read_correlate(items["correlate"], sweeps) if "correlate" in items else None,
    )
    check_space(space, items)
    return space


def _distinct(item: Item, read: Callable[[str], T]) -> tuple[T, ...]:
    """What ``read`` makes of each text of a list; none may stand twice."""
    found: list[T] = []
    for element in item.elements():
        text = element.text()
        with element.blamed():
            value = read(text)
        if value in found:
            raise element.error(f"{text} stands twice. Keep one of them.")
        found.append(value)
    return tuple(found)


def _graph(name: str) -> str:
    dataset_named(name)
    return name


def _method(name: str) -> Method:
    method = Method.parse(name)
    try:
        method.parameters()
    except ClarTuneError:
        raise
    except Exception as error:  # a user's own module may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise SpaceError(f"{name}: cannot be imported ({reason}).") from error
    return method


def _protocols(item: Item, graphs: tuple[str, ...]) -> dict[str, str]:
    """One protocol for all graphs, or a mapping that names every graph."""
    items = item.entries(graphs) if item.is_mapping else dict.fromkeys(graphs, item)
    for graph in graphs:
        if graph not in items:
            raise item.error(f"{graph} has no protocol. Name every graph of the space.")
        with items[graph].blamed():
            check_protocol(graph, str(items[graph].value()))
    return {graph: items[graph].text() for graph in graphs}


def _preprocessing(items: Mapping[str, Item]) -> str:
    if "preprocessing" not in items:
        return PREPROCESSINGS[0]
    return items["preprocessing"].check(lambda v: one_of("preprocessing", v, PREPROCESSINGS))


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


def _settings(items: Mapping[str, Item], methods: tuple[Method, ...]) -> dict[str, Settings]:
    given = items["settings"].entries(SETTINGS)
    if "tuned" not in given:
        raise items["settings"].error("`tuned` is missing: what the search may choose from.")
    usual = with_rules(Settings(), items)
    found = {}
    for name, item in given.items():
        own = item.entries((*RULES, *LEVELS))
        found[name] = replace(with_rules(usual, own), levels=read_levels(own, methods))
    return found
