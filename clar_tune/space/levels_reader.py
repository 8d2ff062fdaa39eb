"""The parameters of a block of settings, read level by level."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from clar_tune.graphs import DATASETS
from clar_tune.records import Value
from clar_tune.space.domains import Choice, Domain, Fixed, Range
from clar_tune.space.mistakes import Mistakes, each
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


def read_levels(
    items: Mapping[str, Item],
    mistakes: Mistakes,
    methods: tuple[Method, ...] | None = None,
    graphs: Collection[str] = (),
) -> Levels:
    """The parameters of each level, those that are wrong noted and left out.

    ``graphs`` are those of the space.

    If the methods of the space are given, backbones and the like must be those of some method;
    regularizers may also be others that are built in, which a command can name then.
    """
    owners = _owners(methods, graphs) if methods else {}
    levels = {
        level: _by_owner(items[level], owners.get(level), mistakes)
        for level in LEVELS[1:-1]
        if level in items
    }
    on_graphs, methods_on = _of_graphs(items, owners, mistakes)
    shared = {"": items["shared"]} if "shared" in items else {}
    own = _each_owner(shared, mistakes).get("", {})
    return Levels(shared=own, **levels, graphs=on_graphs, methods_on=methods_on)


def _of_graphs(
    items: Mapping[str, Item], owners: Mapping[str, Collection[str]], mistakes: Mistakes
) -> tuple[dict[str, Parameters], dict[str, dict[str, Parameters]]]:
    """The parameters of each graph, and those of single methods on it."""
    methods_on = dict[str, dict[str, Parameters]]()
    if "graphs" not in items:
        return {}, methods_on
    graphs = _by_owner(items["graphs"], owners.get("graphs"), mistakes, but=METHODS)
    for graph in graphs:
        entries = items["graphs"].entries()[graph].entries()
        if METHODS in entries:
            methods_on[graph] = _by_owner(entries[METHODS], owners.get(METHODS), mistakes)
    return graphs, methods_on


def _by_owner(
    item: Item, owners: Collection[str] | None, mistakes: Mistakes, but: str = ""
) -> dict[str, Parameters]:
    """The parameters of each owner of a level: of each backbone, say."""
    with mistakes.noted():
        return _each_owner(item.entries(owners, mistakes), mistakes, but)
    return {}


def _each_owner(
    entries: Mapping[str, Item], mistakes: Mistakes, but: str = ""
) -> dict[str, Parameters]:
    found = dict[str, Parameters]()
    for owner, item in entries.items():
        with mistakes.noted():
            own = dict[str, Parameter]()
            for name, entry in item.entries().items():
                if name != but:
                    with mistakes.noted():
                        own[name] = _parameter(name, entry)
            found[owner] = own
    return found


def _owners(methods: tuple[Method, ...], graphs: Collection[str]) -> dict[str, Collection[str]]:
    from clar_tune.models import REGULARIZERS

    return {
        "backbones": {method.backbone for method in methods},
        "regularizers": {*REGULARIZERS, *(method.regularizer for method in methods)},
        "methods": {method.name for method in methods},
        "graphs": dict.fromkeys([*DATASETS, *graphs]),
    }


def _parameter(name: str, item: Item) -> Parameter:
    if not item.is_mapping:
        return Parameter(name, Fixed(_single(item)), place=item.place)
    items = item.entries(("value", "choices", *RANGE, "when"))
    domain = _domain(item, items)
    when = {}
    for other, entry in (items["when"].entries() if "when" in items else {}).items():
        listed = entry.elements() if entry.is_list else [entry]
        when[other] = tuple(element.value() for element in listed)
    return Parameter(name, domain, when, item.place)


def _single(item: Item) -> Value:
    """A value that is not searched; a list is meant to be."""
    if item.is_list:
        raise item.error(
            "a single value is needed, got a list. For the search to choose from it write "
            "`{choices: [...]}`."
        )
    return item.value()


def _domain(item: Item, items: Mapping[str, Item]) -> Domain:
    kinds = {"range" if name in RANGE else name for name in items if name != "when"}
    if len(kinds) != 1:
        given = ", ".join(items) or "nothing"
        raise item.error(f"give one of `value`, `choices`, or `low` and `high`; got {given}.")
    if kinds == {"value"}:
        return Fixed(_single(items["value"]))
    if kinds == {"choices"}:
        listed = tuple(each(Item.value, items["choices"].elements()))
        with item.blamed():
            return Choice(listed)
    return _range(item, items)


def _range(item: Item, items: Mapping[str, Item]) -> Range:
    for end in ("low", "high"):
        if end not in items:
            raise item.error(f"a range needs `low` and `high`; `{end}` is missing.")
    low, high = each(number_of, (items["low"], items["high"]))
    log, integer = (name in items and items[name].flag() for name in ("log", "integer"))
    with item.blamed():
        return Range(low, high, log=log, integer=integer)
