"""The parameters of a block of settings, read level by level."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from clar_tune.graphs import DATASETS
from clar_tune.space.domains import Choice, Domain, Fixed, Range
from clar_tune.space.model import Levels, Parameters
from clar_tune.space.parameters import Parameter
from clar_tune.space.single_values import number_of
from clar_tune.space.yaml_nodes import Item

if TYPE_CHECKING:
    from clar_tune.models import Method

LEVELS = ("shared", "backbones", "regularizers", "methods", "graphs")
METHODS = "methods"
"""The key of a graph under which single methods have their own."""
RANGE = ("low", "high", "log", "integer")


def read_levels(items: Mapping[str, Item], methods: tuple[Method, ...] | None = None) -> Levels:
    """The parameters of each level.

    If the methods of the space are given, backbones and the like must be those of some method;
    regularizers may also be others that are built in, which a command can name then.
    """
    owners = _owners(methods) if methods else {}
    levels = {
        level: {
            owner: _parameters(entry)
            for owner, entry in items[level].entries(owners.get(level)).items()
        }
        for level in LEVELS[1:-1]
        if level in items
    }
    graphs, methods_on = _of_graphs(items, owners)
    shared = _parameters(items["shared"]) if "shared" in items else {}
    return Levels(shared=shared, **levels, graphs=graphs, methods_on=methods_on)


def _of_graphs(
    items: Mapping[str, Item], owners: Mapping[str, Collection[str]]
) -> tuple[dict[str, Parameters], dict[str, dict[str, Parameters]]]:
    """The parameters of each graph, and those of single methods on it."""
    graphs, methods_on = dict[str, Parameters](), dict[str, dict[str, Parameters]]()
    given = items["graphs"].entries(owners.get("graphs")) if "graphs" in items else {}
    for graph, item in given.items():
        entries = item.entries()
        graphs[graph] = _each(entries, but=METHODS)
        if METHODS in entries:
            own = entries[METHODS].entries(owners.get(METHODS))
            methods_on[graph] = {method: _parameters(entry) for method, entry in own.items()}
    return graphs, methods_on


def _owners(methods: tuple[Method, ...]) -> dict[str, Collection[str]]:
    from clar_tune.models import REGULARIZERS

    return {
        "backbones": {method.backbone for method in methods},
        "regularizers": {*REGULARIZERS, *(method.regularizer for method in methods)},
        "methods": {method.name for method in methods},
        "graphs": DATASETS,
    }


def _parameters(item: Item) -> dict[str, Parameter]:
    return _each(item.entries())


def _each(entries: Mapping[str, Item], but: str = "") -> dict[str, Parameter]:
    return {name: _parameter(name, entry) for name, entry in entries.items() if name != but}


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
    low, high = number_of(items["low"]), number_of(items["high"])
    log, integer = (name in items and items[name].flag() for name in ("log", "integer"))
    with item.blamed():
        return Range(low, high, log=log, integer=integer)
