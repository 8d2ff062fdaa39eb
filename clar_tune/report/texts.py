"""What the store holds, made fit to be printed: in one line, of a sane length, without tricks."""

import re
import unicodedata
from datetime import UTC, datetime
from typing import Any

LONGEST_NAME = 80
LONGEST_SENTENCE = 2000
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Kinds of characters that move the cursor, turn the text round, or cannot be seen."""


def name(text: str) -> str:
    """A name in one line; the middle of a very long one is left out."""
    return _shortened(_visible(text), LONGEST_NAME)


def sentence(text: str) -> str:
    """A sentence in one line; the same for its words."""
    words = re.sub(r"\S+", lambda word: _shortened(word[0], LONGEST_NAME), _visible(text))
    return _shortened(words, LONGEST_SENTENCE)


def place(graph: str, condition: str) -> str:
    """A graph, and the condition if there is one."""
    return f"{name(graph)} ({name(condition)})" if condition else name(graph)


def moment(when: datetime) -> str:
    """A day and a minute in UTC."""
    known = when if when.tzinfo else when.replace(tzinfo=UTC)
    return f"{known.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def setting(value: Any) -> str:
    """A parameter as one writes it in a space."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _visible(text: str) -> str:
    return "".join(_escape(c) if unicodedata.category(c) in HIDDEN else c for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    start = 2 * most // 3
    return f"{text[:start]}…{text[start + 1 - most :]}"
