"""A winner, or any single training, as people take it along: all that decides its trainings."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from clar_tune.errors import ParameterError
from clar_tune.records import Params, from_stored, stored_as


@stored_as("number", "split_seed", "init_seed", "val_score", "test_score")
@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One split and one start of the weights, and what was reached on them, if that is known."""

    number: int
    split_seed: int
    init_seed: int
    val_score: float | None = None
    test_score: float | None = None


@stored_as(
    *("run", "trial", "graph", "graph_hash", "preprocessing", "method", "condition", "protocol"),
    *("metric", "params", "max_epochs", "patience", "warmup", "select", "stop", "optimizer"),
    *("engine", "threads", "outer_test", "seed", "purpose", "numbers", "repeats", "val_score"),
    "pairs",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One method on one graph, with everything that decides its numbers but the pair."""

    run: str | None = None
    """The run that it won in."""
    trial: int | None = None
    graph: str
    graph_hash: str
    """That of the graph before its condition changes it."""
    preprocessing: str
    method: str
    condition: str
    protocol: str
    metric: str
    params: Params
    max_epochs: int
    patience: int
    warmup: int
    select: str
    stop: str
    optimizer: str
    engine: str
    threads: int
    outer_test: float
    seed: int
    """What pairs, and changes of the graph, are drawn with."""
    purpose: str
    """What its pairs are for: ``final``, or ``repeat`` as those of a search are."""
    numbers: int
    """Version of the numbers: another one trains to others."""
    repeats: int | None = None
    """Trainings of the search that its validation score is the mean of."""
    val_score: float | None = None
    pairs: tuple[Pair, ...] = ()


def read_configuration(content: Any, origin: str) -> Configuration:
    """The configuration that ``to_stored`` gave; ``origin`` names it in errors."""
    known = {field.name for field in fields(Configuration)}
    if not isinstance(content, Mapping) or not {"graph", "method", "params"} <= content.keys():
        raise ParameterError(
            f"{origin}: this is no configuration. Give what `clar-tune best --json` prints or "
            "`clar-tune train --out` writes."
        )
    if content.keys() - known:
        named = ", ".join(sorted(map(str, content.keys() - known)))
        raise ParameterError(f"{origin}: a configuration has no {named}. Leave it out.")
    try:
        pairs = [from_stored(Pair, pair) for pair in content.get("pairs", ())]
        return from_stored(Configuration, {**content, "pairs": pairs})
    except (TypeError, AttributeError, ValueError) as error:
        raise ParameterError(f"{origin}: the configuration is not whole ({error}).") from error
