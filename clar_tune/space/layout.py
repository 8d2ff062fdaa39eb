"""The keys of a space file that lay out its table: ``columns`` and ``correlate``."""

from collections.abc import Mapping, Sequence

from clar_tune.errors import UnknownName
from clar_tune.records import Value
from clar_tune.space.domains import Choice, identity, written
from clar_tune.space.model import COEFFICIENTS, Correlate, Sweep
from clar_tune.space.yaml_nodes import Item
from clar_tune.validation import one_of

FEWEST_CELLS = 4
"""Fisher's interval of a Pearson coefficient divides by the root of their number less three."""


def read_columns(item: Item, sweeps: Sequence[Sweep]) -> tuple[str, ...]:
    """Names of condition keys, each once."""
    found: list[str] = []
    for element in item.elements():
        name = _key(element, sweeps)
        if name in found:
            raise element.error(f"{name} stands twice. Keep one of them.")
        found.append(name)
    return tuple(found)


def read_correlate(item: Item, sweeps: Sequence[Sweep]) -> Correlate:
    """``{spearman: KEY}``, or ``{pearson: KEY}`` with ``of: [VALUE, VALUE]`` if it has more."""
    items = item.entries((*COEFFICIENTS, "of"))
    kinds = [kind for kind in COEFFICIENTS if kind in items]
    if len(kinds) != 1:
        given = ", ".join(items) or "nothing"
        raise item.error(
            f"give one of {', '.join(f'`{k}: KEY`' for k in COEFFICIENTS)}; got {given}."
        )
    (kind,) = kinds
    key = _key(items[kind], sweeps)
    values = _values(key, sweeps)
    if len(values) < 2:
        raise items[kind].error(
            f"{key} has one value only, {written(values[0])}: nothing can be correlated. "
            "Give it more values under `conditions`."
        )
    if kind == "spearman":
        _check_numbers(items, key, values)
        return Correlate(kind, key)
    chosen = _compared(items, values)
    _check_cells(items[kind], key, sweeps)
    return Correlate(kind, key, chosen)


def _key(item: Item, sweeps: Sequence[Sweep]) -> str:
    known = dict.fromkeys(name for sweep in sweeps for name in sweep.values)
    name = item.text()
    if not known:
        raise item.error(f"{name} is no key of a condition, as there are none. Add `conditions`.")
    with item.blamed():
        return one_of("key of the conditions", name, known)


def _values(key: str, sweeps: Sequence[Sweep]) -> tuple[Value, ...]:
    """Every value of a key, once."""
    found: dict[object, Value] = {}
    for value in (value for sweep in sweeps for value in sweep.values.get(key, ())):
        found.setdefault(identity(value), value)
    return tuple(found.values())


def _check_numbers(items: Mapping[str, Item], key: str, values: Sequence[Value]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise items["spearman"].error(
                f"{key} has the value {written(value)}, which is no number and has no rank. "
                "Take a key with numbers only, or `pearson`."
            )
    if "of" in items:
        raise items["of"].error("`of` belongs to `pearson`; `spearman` takes all values. Drop it.")


def _compared(items: Mapping[str, Item], values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values whose scores are compared, pair by pair."""
    if "of" not in items:
        return values
    chosen = tuple(element.value() for element in items["of"].elements())
    with items["of"].blamed():
        Choice(chosen)  # refuses doubles
    known_values = Choice(values)
    for element, value in zip(items["of"].elements(), chosen, strict=True):
        if not known_values.holds(value):
            listed = [written(known) for known in values]
            raise element.error(UnknownName("value of the key", written(value), listed))
    if len(chosen) < 2:
        raise items["of"].error("two values are needed: scores under both are compared.")
    return chosen


def _check_cells(item: Item, key: str, sweeps: Sequence[Sweep]) -> None:
    cells = max(sweep.count // len(sweep.values[key]) for sweep in sweeps if key in sweep.values)
    if cells < FEWEST_CELLS:
        raise item.error(
            f"the other keys of the conditions make {cells} cell{'s' * (cells != 1)}, and "
            f"{FEWEST_CELLS} are needed. Vary more of them, or take `spearman`."
        )
