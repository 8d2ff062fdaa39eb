"""A user's own class: which arguments a graph decides, which a space, and what is refused.

Arguments are bound by name, so that no width is ever taken for another:

    def __init__(self, in_channels, hidden, out_channels):    # hidden is a parameter of a space
"""

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import nn

from clar_tune.errors import ParameterError
from clar_tune.models.users_code import place_of_code

INPUTS = ("in_features", "in_channels", "inputs")
OUTPUTS = ("out_features", "out_channels", "num_classes", "outputs")
"""Names of the widths that a graph decides; the first ones of each are those of torch's layers."""

EXAMPLE = "def __init__(self, in_features, out_features)"


class Widths(NamedTuple):
    """The arguments of a backbone that take the widths of its input and its output."""

    inputs: str
    outputs: str


def check_class(name: str, kind: type[nn.Module], *, backbone: bool) -> None:
    """Refuse a class of which a search could not build or call anything, with the remedy."""
    if backbone:
        widths_of(name, kind)
    places = (inspect.Parameter.POSITIONAL_ONLY,)
    hidden = [p.name for p in _signature(kind) if p.kind in places and p.default is p.empty]
    if hidden:
        raise ParameterError(
            f"{_named(name, kind.__init__)}: its __init__ takes {', '.join(hidden)} by position "
            "alone. Leave out the `/`, so that they can be given by name."
        )
    _check_forward(name, kind, "x, edge_index" if backbone else "h, edge_index")


def widths_of(name: str, kind: type[nn.Module]) -> Widths:
    """Which arguments take the widths; a signature that does not say so is refused."""
    taken = arguments_of(kind)
    found = []
    for what, names in (("input", INPUTS), ("output", OUTPUTS)):
        fitting = [known for known in names if known in taken]
        if not fitting:
            raise ParameterError(
                f"{_named(name, kind.__init__)}: no argument of its __init__ is named as the "
                f"width of the {what}, got `{_shown('__init__', _signature(kind))}`. Call it "
                f"{_either(names)}, as in `{EXAMPLE}`; a space gives values to all others."
            )
        if len(fitting) > 1:
            raise ParameterError(
                f"{_named(name, kind.__init__)}: {' and '.join(fitting)} of its __init__ are both "
                f"names for the width of the {what}. Keep one, and rename what is meant otherwise."
            )
        found += fitting
    return Widths(*found)


def keywords_of(name: str, kind: type[nn.Module], *, backbone: bool) -> dict[str, Any]:
    """What a space can give to a class, with the defaults; ``empty`` where there is none."""
    decided = widths_of(name, kind) if backbone else ()
    return {taken: value for taken, value in arguments_of(kind).items() if taken not in decided}


def arguments_of(kind: type[nn.Module]) -> dict[str, Any]:
    """All arguments that a class takes by name, bases included, with their defaults."""
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        if base is nn.Module or "__init__" not in base.__dict__:
            continue
        own = _signature(base)
        by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        for parameter in own:
            if parameter.kind in by_name:
                found.setdefault(parameter.name, parameter.default)
        # Only a class that passes the rest on takes its base's arguments as well.
        if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in own):
            break
    return found


def built(
    name: str, kind: type[nn.Module], sizes: tuple[int, int], given: Mapping[str, Any]
) -> nn.Module:
    """A backbone for a graph with so many features and so many outputs."""
    widths = widths_of(name, kind)
    return kind(**dict(zip(widths, sizes, strict=True)), **given)


def _check_forward(name: str, kind: type[nn.Module], wanted: str) -> None:
    """Refuse a ``forward`` that cannot be called with two arguments."""
    try:
        signature = inspect.signature(kind.forward)
    except (TypeError, ValueError):  # compiled elsewhere: it shows when it is called
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        own = list(signature.parameters.values())[1:]
        raise ParameterError(
            f"{_named(name, kind.forward)}: its forward is called with two arguments, got "
            f"`{_shown('forward', own)}`. Write `def forward(self, {wanted})`, and give defaults "
            "to all others."
        ) from None


def _signature(kind: type[nn.Module]) -> list[inspect.Parameter]:
    return list(inspect.signature(kind).parameters.values())


def _shown(function: str, own: list[inspect.Parameter]) -> str:
    """The head of a function as its file has it, without types."""
    bare = [parameter.replace(annotation=parameter.empty) for parameter in own]
    return f"def {function}{_with_self(inspect.Signature(bare))}"


def _with_self(signature: inspect.Signature) -> str:
    inside = str(signature)[1:-1]
    return f"(self, {inside})" if inside else "(self)"


def _either(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _named(name: str, function: Any) -> str:
    """The class as a space names it, and where its function stands, if it has one."""
    inherited = function in (nn.Module.__init__, nn.Module.forward)
    place = "" if inherited else place_of_code(function)
    return f"{name} ({place})" if place else name
