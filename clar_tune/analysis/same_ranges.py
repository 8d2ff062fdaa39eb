"""What the text of a space gives its methods, read without asking whether it still fits."""

from collections.abc import Mapping
from typing import Any

from clar_tune.errors import ClarTuneError
from clar_tune.space import LEVELS, read_items

Content = Mapping[str, Mapping[str, Any]]
"""Parameters of each level as the file writes them."""


def content_of(text: str, settings: str) -> Content:
    """The levels of one of its settings; a text that is no space has none."""
    try:
        found = _mapping(read_items(text, "manifest").content())
    except ClarTuneError:
        found = {}
    for name in ("settings", settings):
        found = _mapping(found.get(name))
    return {level: _mapping(found.get(level)) for level in LEVELS}


def same_ranges(one: Content, two: Content, method: str) -> bool:
    """Whether a method may choose from the same values under both.

    A space that says nothing on a regularizer is asked for its backbone only.
    """
    backbone = method.partition("+")[0]
    compared = method if _names(one, method) and _names(two, method) else backbone
    return _given(one, compared) == _given(two, compared)


def _names(content: Content, method: str) -> bool:
    regularizer = method.partition("+")[2]
    return (
        not regularizer or regularizer in content["regularizers"] or method in content["methods"]
    )


def _given(content: Content, method: str) -> dict[str, Any]:
    """As ``Levels.of``: later levels win; what is given on single graphs is compared whole."""
    backbone, _, regularizer = method.partition("+")
    return {
        **content["shared"],
        **_mapping(content["backbones"].get(backbone)),
        **_mapping(content["regularizers"].get(regularizer)),
        **_mapping(content["methods"].get(method)),
        "graphs": content["graphs"],
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
