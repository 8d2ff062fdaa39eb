"""What is checked: every built-in method, each regularizer in all its forms."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from clar_tune.models import BACKBONES, REGULARIZERS, Method
from clar_tune.records import Params, Value

FORMS: dict[str, tuple[Params, ...]] = {
    "clar": (
        {"sampling": "edge"},
        {"sampling": "any", "reduction": "trace"},
        {"reduction": "released", "clamp": None},
    ),
    "nl": ({"reduction": "released", "clamp": None},),
    "preg": ({"form": "ce"},),
}
"""Parameters that a regularizer computes by other code with."""


@dataclass(frozen=True, slots=True)
class Case:
    """A method with some parameters."""

    method: Method
    params: Params

    def __str__(self) -> str:
        given = ", ".join(f"{name} {value}" for name, value in self.params.items())
        return f"{self.method.name} ({given})" if given else self.method.name

    def complete(self, **more: Value) -> dict[str, Value]:
        """All parameters."""
        return self.method.complete({**self.params, **more})


def all_cases() -> list[Case]:
    """Every backbone with every regularizer, and on gcn their other forms."""
    plain = [Case(Method(b, r), {}) for b in BACKBONES for r in REGULARIZERS]
    forms = [Case(Method("gcn", name), given) for name, every in FORMS.items() for given in every]
    return plain + forms


def few_cases() -> list[Case]:
    """Every backbone once, and every regularizer once."""
    backbones = [Case(Method(name), {}) for name in BACKBONES]
    return backbones + [Case(Method("gcn", name), {}) for name in REGULARIZERS if name != "none"]


def cases_of(methods: Collection[str]) -> Sequence[Case]:
    """The cases of some methods; a user's own classes are not looked at."""
    return [case for case in all_cases() if case.method.name in methods]
