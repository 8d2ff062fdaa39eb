"""The blocks of settings of a space file: ground, rules and levels of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from clar_tune.graphs import PREPROCESSINGS, Dataset, Lookup, check_protocol
from clar_tune.precision import Precision
from clar_tune.records import ENGINE_CHOICES, OPTIMIZERS, SELECTIONS, STOPS
from clar_tune.space.bounds import LARGEST_COUNT, MOST_BUDGET
from clar_tune.space.levels_reader import LEVELS, read_levels
from clar_tune.space.mistakes import Mistakes
from clar_tune.space.model import SAMPLERS, SearchRules, Settings, TrainingRules
from clar_tune.space.single_values import Read, among, read_each, share_of_points, within
from clar_tune.space.yaml_nodes import Item

if TYPE_CHECKING:
    from clar_tune.models import Method

SETTINGS = ("tuned", "paper", "released", "tuned-gnn")
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
    "tuned-gnn": Settings(TrainingRules(select="accuracy"), _SEARCH_RULES, finals=20),
}
"""What a block has that says nothing."""
USUAL_PROTOCOL = {
    "tuned": RANDOM,
    "paper": BALANCED,
    "released": BALANCED,
    "tuned-gnn": RANDOM,
}
FORMER = Settings(TrainingRules(select="loss"), SearchRules(repeats=9), finals=10)
"""What a block of a file with a ground at the top has that says nothing, as it always had."""


class ReadSettings(NamedTuple):
    """The settings by name, with what is wrong left out of them."""

    settings: dict[str, Settings]
    whole: frozenset[str]
    """Those whose parameters were all read."""


def read_settings(
    items: Mapping[str, Item],
    graphs: tuple[str, ...] | None,
    methods: tuple[Method, ...] | None,
    lookup: Lookup,
    mistakes: Mistakes,
) -> ReadSettings:
    """The settings; ``items`` are those of the whole file.

    What depends on graphs or methods is not looked at where these were refused.
    """
    known = None if graphs is None else {graph: lookup.dataset(graph) for graph in graphs}
    unknown = Mistakes()
    given = items["settings"].entries(SETTINGS, unknown)
    if "tuned" not in given and not unknown:
        unknown.note(
            items["settings"].error("`tuned` is missing: what the search may choose from.")
        )
    mistakes.note_all(unknown)
    former = "protocol" in items
    if "preprocessing" in items and not former:
        mistakes.note(
            items["preprocessing"].error(
                "it belongs to a block of settings, as `protocol` does. Move it there."
            )
        )
    found, whole = dict[str, Settings](), set[str]()
    for name, block in given.items():
        with mistakes.noted():
            wrong = Mistakes()
            own = block.entries((*BLOCK, *LEVELS), wrong)
            levels = read_levels(own, wrong, methods, graphs or ())
            whole |= set() if wrong else {name}
            mistakes.note_all(wrong)
            usual = _with_rules(FORMER if former else USUAL[name], items, mistakes)
            found[name] = replace(
                _with_rules(usual, own, mistakes),
                **_ground(name, block, items if former else None, own, known, mistakes),
                levels=levels,
            )
    return ReadSettings(found, frozenset(whole))


def _ground(
    name: str,
    block: Item,
    former: Mapping[str, Item] | None,
    own: Mapping[str, Item],
    graphs: Mapping[str, Dataset] | None,
    mistakes: Mistakes,
) -> dict[str, Any]:
    """What the numbers of a block stand on."""
    found: dict[str, Any] = {}
    with mistakes.noted():
        ground = own if former is None else _former_ground(former, own)
        with mistakes.noted():
            found["preprocessing"] = read_preprocessing(ground)
        if graphs is not None:
            found["protocols"] = _protocols(name, block, ground, graphs)
    return found


def _former_ground(items: Mapping[str, Item], own: Mapping[str, Item]) -> Mapping[str, Item]:
    for name in GROUND:
        if name in own:
            raise own[name].error(
                "`protocol` stands at the top of the file already, for all settings. Move it from "
                "there into each of their blocks."
            )
    return items


def _with_rules(usual: Settings, items: Mapping[str, Item], mistakes: Mistakes) -> Settings:
    """``usual`` with the rules that are given; those that are wrong are noted and left out."""
    for name, changed in _CHANGES.items():
        if name in items:
            with mistakes.noted():
                usual = replace(usual, **changed(usual, items[name]))
    return usual


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
    name: str, block: Item, ground: Mapping[str, Item], graphs: Mapping[str, Dataset]
) -> dict[str, str]:
    """One protocol for all graphs, a mapping that names every graph, or the usual one."""
    if "protocol" not in ground:
        return dict.fromkeys(graphs, _usual_protocol(name, block, graphs))
    item, unknown = ground["protocol"], Mistakes()
    items = item.entries(graphs, unknown) if item.is_mapping else dict.fromkeys(graphs, item)
    mistakes = Mistakes()
    for graph, dataset in graphs.items():
        with mistakes.noted():
            if graph in items:
                with items[graph].blamed():
                    check_protocol(graph, str(items[graph].value()), dataset.splits)
            elif not unknown:
                raise item.error(f"{graph} has no protocol. Name every graph of the space.")
    mistakes.note_all(unknown)
    mistakes.check()
    return {graph: items[graph].text() for graph in graphs}


def _usual_protocol(name: str, block: Item, graphs: Mapping[str, Dataset]) -> str:
    usual = USUAL_PROTOCOL[name]
    for graph, dataset in graphs.items():
        # Of two classes as unequal as those of graphs by ROC AUC, one would train whole.
        if usual == BALANCED and dataset.metric == "roc_auc":
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

Changes = Callable[[Settings, Item], dict[str, Any]]

_CHANGES: dict[str, Changes] = {
    "training": lambda usual, item: {
        "training": replace(usual.training, **read_each(item, _TRAINING))
    },
    "search": lambda usual, item: {"search": usual.search.changed(**read_each(item, _SEARCH))},
    "finals": lambda usual, item: _finals(item),
    "ablation": lambda usual, item: {"ablation": item.flag()},
}
"""What each rule changes."""

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
