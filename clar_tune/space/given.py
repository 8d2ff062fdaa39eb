"""A space as a program may give it: by name, as a file, as text, as a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import yaml

from clar_tune.errors import SpaceError
from clar_tune.graphs import Lookup
from clar_tune.space.model import Space
from clar_tune.space.reader import parse_space
from clar_tune.space.shipped import NAMES, is_space_name, load_space

Given = str | PathLike[str] | Mapping[str, Any] | Space
"""Name of a shipped space, a YAML file, the text of one, its content, or a space itself."""


def space_from(given: Given, name: str = "own", lookup: Lookup | None = None) -> Space:
    """The space that is meant; ``name`` is that of one without a file.

    ``lookup`` finds the graphs of one that is not read yet.
    """
    if isinstance(given, Space):
        return given
    if isinstance(given, Mapping):
        return _parsed(_text(given), name, lookup)
    text = fspath(given)
    return _parsed(text, name, lookup) if "\n" in text else load_space(text, lookup)


def _parsed(text: str, name: str, lookup: Lookup | None) -> Space:
    if not is_space_name(name):
        raise SpaceError(f"{name!r} is no name of a space. {NAMES}")
    return parse_space(text, name, f"space {name}", lookup)


class _Plain(yaml.SafeDumper):
    """Writes a list that occurs twice twice: a space has no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(content: Mapping[str, Any]) -> str:
    try:
        return yaml.dump(dict(content), Dumper=_Plain, sort_keys=False, allow_unicode=True)
    except yaml.YAMLError as error:
        raise SpaceError(
            f"a space of dictionaries, lists, texts and numbers is needed ({error})."
        ) from error
