"""Who is checked, and the one sentence that a failed check says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import nn

from clar_tune.errors import ClarTuneError
from clar_tune.graphs import threads
from clar_tune.search import one_line_error


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked and on which example: the beginning of every sentence."""

    name: str
    example: str = ""

    def on(self, example: str) -> "Subject":
        """The same on an example."""
        return replace(self, example=example)

    def expect(self, holds: object, needed: str, got: object) -> None:
        """Fail unless something holds, saying what is needed and what came instead."""
        __tracebackhide__ = True  # pytest then shows the check that failed
        if not holds:
            raise AssertionError(f"{self}: {needed}, got {got}.")

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Whatever is raised inside fails the check, in one sentence.

        Torch computes with one thread, as in a search, and its global generator is left as it was.
        """
        try:
            with threads(1), torch.random.fork_rng([]):
                yield
        except AssertionError:
            raise
        except ClarTuneError as error:
            raise AssertionError(f"{self} is refused: {error}") from error
        except Exception as error:  # a user's class may raise anything
            raise AssertionError(f"{self} fails: {one_line_error(error)}") from error

    def __str__(self) -> str:
        return f"{self.name} on {self.example}" if self.example else self.name


def import_path(kind: str | type[nn.Module], built_in: Mapping[str, type[nn.Module]]) -> str:
    """How a space names a class: as in ``built_in``, or ``package.module:Class``."""
    if isinstance(kind, str):
        return kind
    names = [name for name, known in built_in.items() if known is kind]
    return names[0] if names else f"{kind.__module__}:{kind.__qualname__}"
