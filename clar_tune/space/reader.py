"""The text of a space file, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from clar_tune.errors import ClarTuneError, SpaceError, UnknownName
from clar_tune.graphs import PREPROCESSINGS, check_protocol, dataset_named
from clar_tune.paper import TABLES
from clar_tune.records import ENGINE_CHOICES, OPTIMIZERS, SELECTIONS, STOPS, Value
from clar_tune.space.bounds import LARGEST_COUNT, MOST_BUDGET
from clar_tune.space.domains import Choice, Domain, Fixed, Range, identity, written
from clar_tune.space.model import COEFFICIENTS, SAMPLERS, Correlate, Levels, Settings, Space, Sweep
from clar_tune.space.parameters import Parameter
from clar_tune.space.yaml_nodes import Item, read_items
from clar_tune.validation import number, one_of, whole

if TYPE_CHECKING:
    from clar_tune.models import Method

FEWEST_CELLS = 4
"""Fisher's interval of a Pearson coefficient divides by the root of their number less three."""


def read_columns(item: Item, sweeps: Sequence[Sweep]) -> tuple[str, ...]:
    """Names of condition keys, each once."""
    found: list[str] = []
    for element in item.elements():
        name = _key(element, sweeps)
        if name in found:
            raise element.error(f"{name} stands twice. Keep one of them.")
        found.append(name)
    return tuple(found)


def read_correlate(item: Item, sweeps: Sequence[Sweep]) -> Correlate:
    """``{spearman: KEY}``, or ``{pearson: KEY}`` with ``of: [VALUE, VALUE]`` if it has more."""
    items = item.entries((*COEFFICIENTS, "of"))
    kinds = [kind for kind in COEFFICIENTS if kind in items]
    if len(kinds) != 1:
        given = ", ".join(items) or "nothing"
        raise item.error(
            f"give one of {', '.join(f'`{k}: KEY`' for k in COEFFICIENTS)}; got {given}."
        )
    (kind,) = kinds
    key = _key(items[kind], sweeps)
    values = _values(key, sweeps)
    if len(values) < 2:
        raise items[kind].error(
            f"{key} has one value only, {written(values[0])}: nothing can be correlated. "
            "Give it more values under `conditions`."
        )
    if kind == "spearman":
        _check_numbers(items, key, values)
        return Correlate(kind, key)
    chosen = _compared(items, values)
    _check_cells(items[kind], key, sweeps)
    return Correlate(kind, key, chosen)


def _key(item: Item, sweeps: Sequence[Sweep]) -> str:
    known = dict.fromkeys(name for sweep in sweeps for name in sweep.values)
    name = item.text()
    if not known:
        raise item.error(f"{name} is no key of a condition, as there are none. Add `conditions`.")
    with item.blamed():
        return one_of("key of the conditions", name, known)


def _values(key: str, sweeps: Sequence[Sweep]) -> tuple[Value, ...]:
    """Every value of a key, once."""
    found: dict[object, Value] = {}
    for value in (value for sweep in sweeps for value in sweep.values.get(key, ())):
        found.setdefault(identity(value), value)
    return tuple(found.values())


def _check_numbers(items: Mapping[str, Item], key: str, values: Sequence[Value]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise items["spearman"].error(
                f"{key} has the value {written(value)}, which is no number and has no rank. "
                "Take a key with numbers only, or `pearson`."
            )
    if "of" in items:
        raise items["of"].error("`of` belongs to `pearson`; `spearman` takes all values. Drop it.")


def _compared(items: Mapping[str, Item], values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values whose scores are compared, pair by pair."""
    if "of" not in items:
        return values
    chosen = tuple(element.value() for element in items["of"].elements())
    with items["of"].blamed():
        Choice(chosen)  # refuses doubles
    known_values = Choice(values)
    for element, value in zip(items["of"].elements(), chosen, strict=True):
        if not known_values.holds(value):
            listed = [written(known) for known in values]
            raise element.error(UnknownName("value of the key", written(value), listed))
    if len(chosen) < 2:
        raise items["of"].error("two values are needed: scores under both are compared.")
    return chosen


def _check_cells(item: Item, key: str, sweeps: Sequence[Sweep]) -> None:
    cells = max(sweep.count // len(sweep.values[key]) for sweep in sweeps if key in sweep.values)
    if cells < FEWEST_CELLS:
        raise item.error(
            f"the other keys of the conditions make {cells} cell{'s' * (cells != 1)}, and "
            f"{FEWEST_CELLS} are needed. Vary more of them, or take `spearman`."
        )


RULES = ("training", "search", "finals")
LEVELS = ("shared", "backbones", "regularizers", "methods")
RANGE = ("low", "high", "log", "integer")


def with_rules(usual: Settings, items: Mapping[str, Item]) -> Settings:
    """``usual`` with the rules that are given."""
    changed: dict[str, Any] = {}
    if "training" in items:
        changed["training"] = replace(usual.training, **_read(items["training"], _TRAINING))
    if "search" in items:
        changed["search"] = replace(usual.search, **_read(items["search"], _SEARCH))
    if "finals" in items:
        changed["finals"] = _within(1, MOST_BUDGET)(items["finals"])
    return replace(usual, **changed)


def read_levels(items: Mapping[str, Item], methods: tuple[Method, ...] | None = None) -> Levels:
    """The parameters of each level; backbones and the like must be those of some method."""
    owners = {
        "backbones": {method.backbone for method in methods or ()},
        "regularizers": {method.regularizer for method in methods or ()},
        "methods": {method.name for method in methods or ()},
    }
    levels = {
        level: {
            owner: _parameters(entry)
            for owner, entry in items[level].entries(names if methods else None).items()
        }
        for level, names in owners.items()
        if level in items
    }
    return Levels(shared=_parameters(items["shared"]) if "shared" in items else {}, **levels)


def _parameters(item: Item) -> dict[str, Parameter]:
    return {name: _parameter(name, entry) for name, entry in item.entries().items()}


def _parameter(name: str, item: Item) -> Parameter:
    if not item.is_mapping:
        return Parameter(name, Fixed(item.value()), place=item.place)
    items = item.entries(("value", "choices", *RANGE, "when"))
    domain = _domain(item, items)
    when = {}
    for other, entry in (items["when"].entries() if "when" in items else {}).items():
        listed = entry.elements() if entry.is_list else [entry]
        when[other] = tuple(element.value() for element in listed)
    return Parameter(name, domain, when, item.place)


def _domain(item: Item, items: Mapping[str, Item]) -> Domain:
    kinds = {"range" if name in RANGE else name for name in items if name != "when"}
    if len(kinds) != 1:
        given = ", ".join(items) or "nothing"
        raise item.error(f"give one of `value`, `choices`, or `low` and `high`; got {given}.")
    if kinds == {"value"}:
        return Fixed(items["value"].value())
    if kinds == {"choices"}:
        listed = tuple(element.value() for element in items["choices"].elements())
        with item.blamed():
            return Choice(listed)
    return _range(item, items)


def _range(item: Item, items: Mapping[str, Item]) -> Range:
    for end in ("low", "high"):
        if end not in items:
            raise item.error(f"a range needs `low` and `high`; `{end}` is missing.")
    low, high = _number(items["low"]), _number(items["high"])
    log, integer = (name in items and items[name].flag() for name in ("log", "integer"))
    with item.blamed():
        return Range(low, high, log=log, integer=integer)


def _read(item: Item, readers: Mapping[str, Callable[[Item], Value]]) -> dict[str, Any]:
    return {name: readers[name](entry) for name, entry in item.entries(readers).items()}


def _within(low: int, high: int) -> Callable[[Item], int]:
    def judge(item: Item) -> int:
        least = item.check(lambda value: whole(item.key, value, low))
        return item.check(lambda _: whole(item.key, least, low, high))

    return judge


def _among(kind: str, allowed: tuple[str, ...]) -> Callable[[Item], str]:
    return lambda item: item.check(lambda value: one_of(kind, value, allowed))


def _number(item: Item) -> float:
    return item.check(lambda value: number(item.key, value))


_TRAINING: dict[str, Callable[[Item], Value]] = {
    "max_epochs": _within(1, LARGEST_COUNT),
    "patience": _within(1, LARGEST_COUNT),
    "warmup": _within(0, LARGEST_COUNT),
    "select": _among("selection", SELECTIONS),
    "optimizer": _among("optimizer", OPTIMIZERS),
    "stop": _among("stop", STOPS),
    "engine": _among("engine", ENGINE_CHOICES),
}
_SEARCH: dict[str, Callable[[Item], Value]] = {
    "trials": _within(1, MOST_BUDGET),
    "repeats": _within(1, MOST_BUDGET),
    "reduction": _within(2, MOST_BUDGET),
    "sampler": _among("sampler", SAMPLERS),
    "pruning": Item.flag,
}

NEEDED = ("graphs", "methods", "protocol", "settings")
OPTIONAL = (
    *("description", "paper", "preprocessing", "conditions", "columns", "correlate"),
    *RULES,
)
SETTINGS = ("tuned", "paper")

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


def stored_levels(text: str, settings: str, origin: str) -> Levels:
    """The parameters that the space of a stored run gives; asks no method, and needs no torch."""
    item = read_items(text, origin)
    for name, allowed in (("settings", (*NEEDED, *OPTIONAL)), (settings, SETTINGS)):
        items = item.entries(allowed)
        if name not in items:
            raise item.error(f"`{name}` is missing.")
        item = items[name]
    return read_levels(item.entries((*RULES, *LEVELS)))


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
