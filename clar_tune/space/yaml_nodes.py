"""The items of a YAML file, each with its place, so that errors can name file, line and key."""

import math
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import yaml

from clar_tune.errors import ClarTuneError, SpaceError, UnknownName
from clar_tune.records import Value
from clar_tune.space.bounds import (
    DEEPEST,
    LARGEST_WHOLE,
    LONGEST_TEXT,
    MOST_CHARACTERS,
    MOST_VALUES,
)

T = TypeVar("T")

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a file: a mapping, a list or a single value."""

    node: yaml.Node
    origin: str
    path: str = ""

    @property
    def key(self) -> str:
        """The last part of its path."""
        return self.path.rpartition(".")[2]

    @property
    def place(self) -> str:
        """``FILE:LINE: path.to.key``."""
        line = f"{self.origin}:{self.node.start_mark.line + 1}"
        return f"{line}: {self.path}" if self.path else line

    def error(self, problem: object) -> SpaceError:
        """The problem and its place."""
        return SpaceError(f"{self.place}: {str(problem).removeprefix(f'{self.key}: ')}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Give what is refused inside this place."""
        try:
            yield
        except ClarTuneError as error:
            raise self.error(error) from error

    def check(self, judge: Callable[[Any], T]) -> T:
        """What ``judge`` makes of the single value; its refusal gets this place."""
        value = self.value()
        with self.blamed():
            return judge(value)

    @property
    def is_mapping(self) -> bool:
        """Whether it has keys."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether it has elements."""
        return isinstance(self.node, yaml.SequenceNode)

    def entries(self, allowed: Collection[str] | None = None) -> dict[str, "Item"]:
        """The items of a mapping by key; all keys must be ``allowed`` ones, if those are given."""
        if not isinstance(self.node, yaml.MappingNode) or self.node.tag != f"{_TAG}map":
            raise self.error(f"a mapping (`key: value`) is needed, got {self._shown()}.")
        found = {}
        for key, node in self.node.value:
            name = str(key.value)
            if allowed is not None and name not in allowed:
                raise Item(key, self.origin, self._inside(name)).error(
                    UnknownName("key", name, allowed)
                )
            found[name] = Item(node, self.origin, self._inside(name))
        return found

    def elements(self) -> list["Item"]:
        """The items of a list, which must not be empty."""
        if not isinstance(self.node, yaml.SequenceNode) or self.node.tag != f"{_TAG}seq":
            raise self.error(f"a list (`[a, b]`) is needed, got {self._shown()}.")
        if not self.node.value:
            raise self.error("the list is empty. Give at least one value.")
        return [Item(node, self.origin, self.path) for node in self.node.value]

    def value(self) -> Value:
        """A single value: text, a number, true, false or null."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"a single value is needed, got {self._shown()}.")
        read = _READERS.get(self.node.tag.removeprefix(_TAG))
        try:
            with self.blamed():
                if read is not None:
                    return read(self.node.value)
        except (ValueError, KeyError):
            pass
        raise self.error(f"{self._shown()} cannot be read. Leave out its tag, or quote it.")

    def text(self) -> str:
        """A single value that is text."""
        value = self.value()
        if not isinstance(value, str):
            raise self.error(f"text is needed, got {self._shown()}.")
        return value

    def flag(self) -> bool:
        """A single value that is true or false."""
        value = self.value()
        if not isinstance(value, bool):
            raise self.error(f"true or false is needed, got {self._shown()}.")
        return value

    def content(self) -> Any:
        """All of it as dictionaries, lists and values."""
        if self.is_mapping:
            return {name: item.content() for name, item in self.entries().items()}
        if isinstance(self.node, yaml.SequenceNode):
            return [Item(node, self.origin, self.path).content() for node in self.node.value]
        return self.value()

    def _inside(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _shown(self) -> str:
        if isinstance(self.node, yaml.ScalarNode):
            return repr(self.node.value) if self.node.value else "nothing"
        return "a list" if isinstance(self.node, yaml.SequenceNode) else "a mapping"


def read_items(text: str, origin: str) -> Item:
    """The whole file as one item; nothing in it is executed."""
    if len(text) > MOST_CHARACTERS:
        raise SpaceError(
            f"{origin}: the text has {len(text):,} characters, and at most {MOST_CHARACTERS:,} "
            "are read. Shorten it."
        )
    try:
        loader = _Loader(text, origin)
        root = loader.get_single_node()
        if root is None:
            raise SpaceError(f"{origin}: the file is empty. `clar-tune spaces` lists examples.")
        _unfold(root, loader, origin, set())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise SpaceError(f"{origin}{line}: this is not YAML: {error.problem}.") from error
    except yaml.YAMLError as error:
        raise SpaceError(f"{origin}: this is not YAML: {str(error).splitlines()[0]}.") from error
    except (ValueError, OverflowError) as error:  # PyYAML lets those of escapes and versions out
        raise SpaceError(f"{origin}: this is not YAML: {error}.") from error
    return Item(root, origin)


class _Loader(yaml.SafeLoader):
    """Reads single values as YAML 1.2 does: ``1e-3`` is a number, ``no`` and ``1:30`` are text.

    What is too deep or too much is refused on the way: aliases count as what they stand for,
    so that what merges make of them has bounds as well.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}

    def __init__(self, text: str, origin: str) -> None:
        super().__init__(text)
        self._origin, self._depth, self._values = origin, 0, 0
        self._sizes: dict[str, int] = {}  # values of each anchor that is complete

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node; PyYAML calls this for each, from inside the one around it."""
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        before = self._values
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(
                event,
                f"lists and mappings stand in each other more than {DEEPEST} deep. "
                "Write it flatter.",
            )
        if isinstance(event, yaml.ScalarEvent):
            self._check_text(event)
        node = super().compose_node(parent, index)
        self._depth -= 1
        self._values += self._size(event) if isinstance(event, yaml.AliasEvent) else 1
        if self._values > MOST_VALUES:
            raise self._error(
                event,
                f"there are more than {MOST_VALUES:,} keys and values, with aliases (`*name`) and "
                "merges (`<<`) written out. Make several spaces of it.",
            )
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._sizes.setdefault(event.anchor, self._values - before)
        return node

    def _size(self, alias: yaml.AliasEvent) -> int:
        """How many keys and values an alias stands for."""
        name = alias.anchor
        if name not in self._sizes:
            raise self._error(
                alias, f"the alias *{name} stands inside &{name} itself. Write out what is meant."
            )
        return self._sizes[name]

    def _check_text(self, event: yaml.ScalarEvent) -> None:
        if len(event.value) > LONGEST_TEXT:
            raise self._error(
                event,
                f"a key or value has {len(event.value):,} characters, and at most "
                f"{LONGEST_TEXT:,} are allowed. Shorten it.",
            )
        if any("\ud800" <= character <= "\udfff" for character in event.value):
            raise self._error(
                event, f"{event.value!r} holds half a character. Write the character itself."
            )

    def _error(self, event: yaml.Event, problem: str) -> SpaceError:
        line = f":{event.start_mark.line + 1}" if event.start_mark else ""
        return SpaceError(f"{self._origin}{line}: {problem}")


for _name, _pattern in {
    "null": r"null|Null|NULL|~|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
    "merge": r"<<",
}.items():
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"(?:{_pattern})$"), None)


def _whole(text: str) -> int:
    if len(text) > len(f"-{LARGEST_WHOLE}") or abs(int(text)) > LARGEST_WHOLE:
        raise SpaceError(
            f"{text} is too large: whole numbers up to {LARGEST_WHOLE:,} are exact. "
            "Write a smaller one, or one with a point."
        )
    return int(text)


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise SpaceError(
            f"{text!r} cannot be read: it is no finite number. Write one up to 1e308."
        )
    return number


_READERS: dict[str, Callable[[str], Value]] = {
    "null": lambda text: None,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": _whole,
    "float": _finite,
    "str": str,
}


def _unfold(node: yaml.Node, loader: _Loader, origin: str, seen: set[int]) -> None:
    """Refuse keys that stand twice, then put merge keys (``<<``) in place."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _unfold(child, loader, origin, seen)
    if isinstance(node, yaml.MappingNode):
        _check_keys(node, origin)
        for _, child in node.value:
            _unfold(child, loader, origin, seen)
        loader.flatten_mapping(node)


def _check_keys(node: yaml.MappingNode, origin: str) -> None:
    found: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise SpaceError(f"{origin}:{line}: a key must be a single value.")
        if key.value in found and not key.tag.endswith(":merge"):
            raise SpaceError(
                f"{origin}:{line}: the key {key.value!r} stands already in line "
                f"{found[key.value]}. Keep one of them."
            )
        found[key.value] = line
