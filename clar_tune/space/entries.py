"""The entries of one ``settings`` of a space file: rules, levels and parameters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from clar_tune.models.method import Method
from clar_tune.records import OPTIMIZERS, SELECTIONS, Value
from clar_tune.space.domains import Choice, Domain, Fixed, Range
from clar_tune.space.model import SAMPLERS, Levels, Settings
from clar_tune.space.parameters import Parameter
from clar_tune.space.yaml_nodes import Item
from clar_tune.validation import number, one_of, whole

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
        changed["finals"] = _from(1)(items["finals"])
    return replace(usual, **changed)


def read_levels(items: Mapping[str, Item], methods: tuple[Method, ...]) -> Levels:
    """The parameters of each level; backbones and the like must be those of some method."""
    owners = {
        "backbones": {method.backbone for method in methods},
        "regularizers": {method.regularizer for method in methods},
        "methods": {method.name for method in methods},
    }
    levels = {
        level: {owner: _parameters(entry) for owner, entry in items[level].entries(names).items()}
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


def _from(low: int) -> Callable[[Item], int]:
    return lambda item: item.check(lambda value: whole(item.key, value, low))


def _among(kind: str, allowed: tuple[str, ...]) -> Callable[[Item], str]:
    return lambda item: item.check(lambda value: one_of(kind, value, allowed))


def _number(item: Item) -> float:
    return item.check(lambda value: number(item.key, value))


_TRAINING: dict[str, Callable[[Item], Value]] = {
    "max_epochs": _from(1),
    "patience": _from(1),
    "warmup": _from(0),
    "select": _among("selection", SELECTIONS),
    "optimizer": _among("optimizer", OPTIMIZERS),
}
_SEARCH: dict[str, Callable[[Item], Value]] = {
    "trials": _from(1),
    "repeats": _from(1),
    "reduction": _from(2),
    "sampler": _among("sampler", SAMPLERS),
    "pruning": Item.flag,
}
