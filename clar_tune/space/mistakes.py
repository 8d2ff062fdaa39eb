"""All mistakes of a space at once: each is noted, and reading goes on behind it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from clar_tune.errors import SpaceError, SpaceMistakes

MOST = 20
"""Mistakes that are listed: whoever has more has one of them many times."""

T = TypeVar("T")
U = TypeVar("U")


class Mistakes:
    """What has been refused so far, in the order in which it was met."""

    def __init__(self) -> None:
        self._found: dict[str, SpaceError] = {}
        self._places = set[str]()

    def __bool__(self) -> bool:
        return bool(self._found)

    def at(self, place: str) -> bool:
        """Whether something was refused there."""
        return place in self._places

    def note(self, error: SpaceError, place: str = "") -> None:
        """Remember a refusal; at one ``place`` it is the first, as others follow from it."""
        if place and self.at(place):
            return
        self._places |= {place} if place else set()
        for single in error.mistakes:
            self._found.setdefault(str(single), single)
        if len(self._found) >= MOST:
            self.check()

    def note_all(self, others: "Mistakes") -> None:
        """Take over what was noted elsewhere."""
        with self.noted():
            others.check()

    @contextmanager
    def noted(self, place: str = "") -> Iterator[None]:
        """What is refused inside is noted; what comes after the block goes on."""
        try:
            yield
        except SpaceError as error:
            self.note(error, place)

    def read(self, make: Callable[[], T]) -> T | None:
        """What ``make`` gives; none if something was refused meanwhile."""
        made, before = None, len(self._found)
        with self.noted():
            made = make()
        return made if len(self._found) == before else None

    def check(self) -> None:
        """Raise what was refused."""
        if self._found:
            raise SpaceMistakes.of(self._found.values())


def each(read: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """What ``read`` makes of each; whatever it refuses is raised together."""
    mistakes, made = Mistakes(), []
    for item in items:
        with mistakes.noted():
            made.append(read(item))
    mistakes.check()
    return made
