"""The key ``question`` of a space file: what its comparison is to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clar_tune.errors import UnknownName
from clar_tune.graphs import VARIANTS
from clar_tune.rows import BACKBONES, COMPARED, PENALTIES, Question
from clar_tune.space.domains import same, written
from clar_tune.space.layout import values_of_key
from clar_tune.space.model import Sweep
from clar_tune.space.yaml_nodes import Item
from clar_tune.validation import one_of

if TYPE_CHECKING:  # a space is read without torch
    from clar_tune.models import Method

USUAL = "gcn"
"""The baseline of backbones, where a space has it and names none."""


def read_questions(
    item: Item, methods: Sequence[Method], sweeps: Sequence[Sweep]
) -> tuple[Question, ...]:
    """``{compare: WHAT, baseline: WITH WHAT}``, or a list of such questions."""
    found: dict[str, Question] = {}
    for element in item.elements() if item.is_list else [item]:
        question = _question(element, methods, sweeps)
        if question.compare in found:
            raise element.error(f"{question.compare} are compared twice. Keep one of both.")
        found[question.compare] = question
    return tuple(found.values())


def _question(item: Item, methods: Sequence[Method], sweeps: Sequence[Sweep]) -> Question:
    items = item.entries(("compare", "baseline"))
    if "compare" not in items:
        raise item.error(
            "`compare` is missing. Write `compare: backbones`, `compare: regularizers`, or a key "
            "of the conditions."
        )
    known = dict.fromkeys((*COMPARED, *(name for sweep in sweeps for name in sweep.values)))
    name = items["compare"].text()
    with items["compare"].blamed():
        one_of("comparison", name, known)
    if name == BACKBONES:
        return Question(name, _backbone(items, methods))
    if name == PENALTIES:
        _check_penalties(items, methods)
        return Question(name)
    return Question(name, _value(name, items, sweeps))


def _backbone(items: Mapping[str, Item], methods: Sequence[Method]) -> str:
    """The plain backbone that the others are compared with."""
    plain = [method.name for method in methods if method.regularizer == "none"]
    if len(plain) < 2:
        raise items["compare"].error(
            f"two backbones without a regularizer are needed, and `methods` has "
            f"{', '.join(plain) or 'none'}. Add to them."
        )
    if "baseline" in items:
        with items["baseline"].blamed():
            return one_of("backbone without a regularizer", items["baseline"].text(), plain)
    if USUAL not in plain:
        raise items["compare"].error(f"name a `baseline`: one of {', '.join(plain)}.")
    return USUAL


def _check_penalties(items: Mapping[str, Item], methods: Sequence[Method]) -> None:
    if "baseline" in items:
        raise items["baseline"].error(
            "a regularizer is compared with its backbone, switched on and off. Drop `baseline`."
        )
    if all(method.regularizer == "none" for method in methods):
        raise items["compare"].error(
            "no method has a regularizer. Add one to `methods`, such as gcn+clar."
        )


def _value(key: str, items: Mapping[str, Item], sweeps: Sequence[Sweep]) -> str:
    """The value of a key of conditions that the others are compared with, as text."""
    values = values_of_key(key, sweeps)
    if len(values) < 2:
        raise items["compare"].error(
            f"{key} has one value only, {written(values[0])}: there is nothing to compare. Give "
            "it more values under `conditions`."
        )
    if key in VARIANTS and VARIANTS[key].metric is not None:
        raise items["compare"].error(
            f"every {key} is another thing to learn, and their scores do not compare. Take "
            "another key."
        )
    if "baseline" not in items:
        return written(values[0])
    value = items["baseline"].value()
    for known in values:
        if same(known, value):
            return written(known)  # 2, where 2.0 is asked for
    listed = [written(known) for known in values]
    raise items["baseline"].error(UnknownName(f"value of {key}", written(value), listed))
