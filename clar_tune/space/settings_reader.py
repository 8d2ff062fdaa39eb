"""The blocks of settings of a space file: ground, rules and levels of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clar_tune.graphs import PREPROCESSINGS, check_protocol, dataset_named
from clar_tune.precision import Precision
from clar_tune.records import ENGINE_CHOICES, OPTIMIZERS, SELECTIONS, STOPS
from clar_tune.space.bounds import LARGEST_COUNT, MOST_BUDGET
from clar_tune.space.levels_reader import LEVELS, read_levels
from clar_tune.space.model import SAMPLERS, SearchRules, Settings, TrainingRules
from clar_tune.space.single_values import Read, among, read_each, share_of_points, within
from clar_tune.space.yaml_nodes import Item

if TYPE_CHECKING:
    from clar_tune.models import Method

SETTINGS = ("tuned", "paper", "released")
RULES = ("training", "search", "finals", "ablation")
GROUND = ("protocol", "preprocessing")
"""What numbers stand on; files of former versions have one for all settings, at the top."""
BLOCK = (*GROUND, *RULES)

RANDOM, BALANCED = "random-60-20-20", "balanced-60-20-20"

_SEARCH_RULES = SearchRules(repeats=9, small_repeats=27)
USUAL = {
    "tuned": Settings(TrainingRules(select="accuracy"), _SEARCH_RULES, finals=20),
    "paper": Settings(TrainingRules(select="loss"), _SEARCH_RULES, finals=20),
    "released": Settings(TrainingRules(select="loss"), _SEARCH_RULES, finals=20),
}
"""What a block has that says nothing."""
USUAL_PROTOCOL = {"tuned": RANDOM, "paper": BALANCED, "released": BALANCED}
FORMER = Settings(TrainingRules(select="loss"), SearchRules(repeats=9), finals=10)
"""What a block of a file with a ground at the top has that says nothing, as it always had."""


def read_settings(
    items: Mapping[str, Item], graphs: tuple[str, ...], methods: tuple[Method, ...]
) -> dict[str, Settings]:
    """The settings by name; ``items`` are those of the whole file."""
    given = items["settings"].entries(SETTINGS)
    if "tuned" not in given:
        raise items["settings"].error("`tuned` is missing: what the search may choose from.")
    former = "protocol" in items
    if "preprocessing" in items and not former:
        raise items["preprocessing"].error(
            "it belongs to a block of settings, as `protocol` does. Move it there."
        )
    found = {}
    for name, block in given.items():
        own = block.entries((*BLOCK, *LEVELS))
        ground = _former_ground(items, own) if former else own
        usual = _with_rules(FORMER if former else USUAL[name], items)
        found[name] = replace(
            _with_rules(usual, own),
            protocols=_protocols(name, block, ground, graphs),
            preprocessing=read_preprocessing(ground),
            levels=read_levels(own, methods),
        )
    return found


def _former_ground(items: Mapping[str, Item], own: Mapping[str, Item]) -> Mapping[str, Item]:
    for name in GROUND:
        if name in own:
            raise own[name].error(
                "`protocol` stands at the top of the file already, for all settings. Move it from "
                "there into each of their blocks."
            )
    return items


def _with_rules(usual: Settings, items: Mapping[str, Item]) -> Settings:
    """``usual`` with the rules that are given."""
    changed: dict[str, Any] = {}
    if "training" in items:
        changed["training"] = replace(usual.training, **read_each(items["training"], _TRAINING))
    if "search" in items:
        changed["search"] = usual.search.changed(**read_each(items["search"], _SEARCH))
    if "finals" in items:
        changed |= _finals(items["finals"])
    if "ablation" in items:
        changed["ablation"] = items["ablation"].flag()
    return replace(usual, **changed)


def _finals(item: Item) -> dict[str, Any]:
    """A whole number, or the precision that decides it; widths are given in points."""
    if not item.is_mapping:
        return {"finals": _count(item), "precision": None}
    own = {"at_least": 20, "at_most": 100, **read_each(item, _PRECISION)}
    if "half_width" not in own:
        raise item.error(
            "`half_width` is missing: how many points the interval of an effect may reach to "
            "either side."
        )
    if own["at_least"] > own["at_most"]:
        raise item.error(
            f"at_least {own['at_least']} is above at_most {own['at_most']}. Give a range."
        )
    return {"finals": own["at_least"], "precision": Precision(**own)}


def _protocols(
    name: str, block: Item, ground: Mapping[str, Item], graphs: tuple[str, ...]
) -> dict[str, str]:
    """One protocol for all graphs, a mapping that names every graph, or the usual one."""
    if "protocol" not in ground:
        return dict.fromkeys(graphs, _usual_protocol(name, block, graphs))
    item = ground["protocol"]
    items = item.entries(graphs) if item.is_mapping else dict.fromkeys(graphs, item)
    for graph in graphs:
        if graph not in items:
            raise item.error(f"{graph} has no protocol. Name every graph of the space.")
        with items[graph].blamed():
            check_protocol(graph, str(items[graph].value()))
    return {graph: items[graph].text() for graph in graphs}


def _usual_protocol(name: str, block: Item, graphs: tuple[str, ...]) -> str:
    usual = USUAL_PROTOCOL[name]
    for graph in graphs:
        # Of two classes as unequal as those of graphs by ROC AUC, one would train whole.
        if usual == BALANCED and dataset_named(graph).metric == "roc_auc":
            raise block.error(
                f"{graph} has no protocol: {usual}, which {name} settings have, is not for binary "
                "graphs. Add `protocol` with one for every graph of the space."
            )
    return usual


def read_preprocessing(ground: Mapping[str, Item]) -> str:
    """What a ground says of it, or the usual one."""
    if "preprocessing" not in ground:
        return PREPROCESSINGS[0]
    return among("preprocessing", PREPROCESSINGS)(ground["preprocessing"])


_count = within(1, MOST_BUDGET)

_TRAINING: dict[str, Read] = {
    "max_epochs": within(1, LARGEST_COUNT),
    "patience": within(1, LARGEST_COUNT),
    "warmup": within(0, LARGEST_COUNT),
    "select": among("selection", SELECTIONS),
    "optimizer": among("optimizer", OPTIMIZERS),
    "stop": among("stop", STOPS),
    "engine": among("engine", ENGINE_CHOICES),
}
_SEARCH: dict[str, Read] = {
    "trials": _count,
    "repeats": _count,
    "reduction": within(2, MOST_BUDGET),
    "sampler": among("sampler", SAMPLERS),
    "pruning": Item.flag,
}
_PRECISION: dict[str, Read] = {
    "half_width": share_of_points,
    "at_least": within(2, MOST_BUDGET),
    "at_most": within(2, MOST_BUDGET),
}
