"""What the text of a space gives its methods, read without asking whether it still fits."""

from collections.abc import Mapping
from typing import Any

import yaml

from clar_tune.space import LEVELS

Content = Mapping[str, Mapping[str, Any]]
"""Parameters of each level as the file writes them."""


def content_of(text: str, settings: str) -> Content:
    """The levels of one of its settings; a text that is no space has none."""
    found: Any = yaml.safe_load(text)
    for name in ("settings", settings):
        found = (found.get(name) if isinstance(found, dict) else None) or {}
    return {level: found.get(level) or {} for level in LEVELS}


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
    """As ``Levels.of``: later levels win."""
    backbone, _, regularizer = method.partition("+")
    return {
        **content["shared"],
        **(content["backbones"].get(backbone) or {}),
        **(content["regularizers"].get(regularizer) or {}),
        **(content["methods"].get(method) or {}),
    }
