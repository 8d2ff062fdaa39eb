"""A space as a frozen value, and what each of its studies may choose from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from clar_tune.errors import UnknownName
from clar_tune.graphs import VARIANTS, parameters_of
from clar_tune.records import Value, stored_as
from clar_tune.space.domains import Fixed, written
from clar_tune.space.parameters import Parameter, ParameterSet

if TYPE_CHECKING:  # a space is read without torch
    from clar_tune.models import Method

SAMPLERS = ("tpe", "gp", "random", "grid")
COEFFICIENTS = ("spearman", "pearson")

Parameters = Mapping[str, Parameter]
Condition = Mapping[str, Value]


@stored_as("max_epochs", "patience", "warmup", "select", "optimizer", later=("stop", "engine"))
@dataclass(frozen=True, slots=True)
class TrainingRules:
    """How every training of a space goes; the names are those of ``TrainSpec``."""

    max_epochs: int = 1000
    patience: int = 100
    warmup: int = 50
    select: str = "loss"
    optimizer: str = "adam"
    stop: str = "patience"
    engine: str = "auto"
    """What is asked for; ``StudyPlan.engine`` says what trains."""


@stored_as("trials", "repeats", "reduction", "sampler", "pruning")
@dataclass(frozen=True, slots=True)
class SearchRules:
    """The budget and the means of every search of a space."""

    trials: int = 16
    repeats: int = 9
    reduction: int = 3
    sampler: str = "tpe"
    pruning: bool = True


@dataclass(frozen=True, slots=True)
class Levels:
    """Parameters of all methods, of a backbone, of a regularizer, of a method; later ones win."""

    shared: Parameters = field(default_factory=dict)
    backbones: Mapping[str, Parameters] = field(default_factory=dict)
    regularizers: Mapping[str, Parameters] = field(default_factory=dict)
    methods: Mapping[str, Parameters] = field(default_factory=dict)

    def of(self, method: str, known: Collection[str]) -> dict[str, Parameter]:
        """What a method may choose from; shared parameters that it does not know are left out."""
        backbone, _, regularizer = method.partition("+")
        return {
            **{name: p for name, p in self.shared.items() if name in known},
            **self.backbones.get(backbone, {}),
            **self.regularizers.get(regularizer or "none", {}),
            **self.methods.get(method, {}),
        }


@dataclass(frozen=True, slots=True)
class Settings:
    """One way to run a space: ``tuned``, or ``paper`` for what the paper did."""

    training: TrainingRules = TrainingRules()
    search: SearchRules = SearchRules()
    finals: int = 10
    levels: Levels = Levels()

    def most_trainings(self, parameters: ParameterSet) -> int:
        """How many trainings a study of some parameters has if nothing is pruned."""
        count, search = parameters.count, self.search
        trials = search.trials if count is None else min(count, search.trials)
        return self.finals + (0 if count == 1 else trials * search.repeats)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Conditions: every combination of some fixed values, for some methods."""

    values: Mapping[str, tuple[Value, ...]]
    methods: tuple[str, ...] = ()  # none named: all
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where a file says so, by name."""

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return prod(len(values) for values in self.values.values())

    def concerns(self, method: Method) -> bool:
        """Whether a method is studied under it."""
        return not self.methods or method.name in self.methods

    def conditions(self) -> Iterator[dict[str, Value]]:
        """Every combination; the last name changes fastest."""
        for values in product(*self.values.values()):
            yield dict(zip(self.values, values, strict=True))


@dataclass(frozen=True, slots=True)
class Correlate:
    """What a space is about: a key against the scores, or the scores under values of a key."""

    kind: str
    key: str
    of: tuple[Value, ...] = ()
    """The values of the key whose scores ``pearson`` compares, pair by pair."""

    @property
    def content(self) -> dict[str, Value | list[Value]]:
        """As a space file writes it."""
        return {self.kind: self.key, **({"of": list(self.of)} if self.of else {})}


@dataclass(frozen=True, slots=True)
class Space:
    """Graphs x methods x conditions, what to search, how to train, how to confirm."""

    name: str
    description: str
    text: str
    """The file, verbatim."""
    graphs: tuple[str, ...]
    methods: tuple[Method, ...]
    protocols: Mapping[str, str]
    """The protocol of each graph."""
    preprocessing: str
    conditions: tuple[Sweep, ...]
    settings: Mapping[str, Settings]
    """``tuned``, and ``paper`` where there is one."""
    paper: str | None = None
    """The table of the paper that its results stand beside, such as ``III``."""
    columns: tuple[str, ...] = ()
    """Keys of conditions that, with the method, make the columns of its table."""
    correlate: Correlate | None = None

    def parameters(self, settings: str, method: Method, condition: Condition) -> ParameterSet:
        """What a study may choose from; the values of its condition are fixed.

        Variants of the graph, which a condition may name as well, are no parameters.
        """
        if settings not in self.settings:
            raise UnknownName(f"settings of {self.name}", settings, self.settings)
        known, fixed = method.parameters(), parameters_of(condition)
        for name in fixed:
            if name not in known:
                raise UnknownName(f"parameter of {method.name}", name, [*known, *VARIANTS])
        chosen = self.settings[settings].levels.of(method.name, known)
        places = {name: place for sweep in self.conditions for name, place in sweep.places.items()}
        for name, value in fixed.items():
            chosen[name] = Parameter(name, Fixed(value), place=places.get(name, ""))
        return ParameterSet(tuple(chosen.values()))

    def conditions_of(self, method: Method) -> tuple[Condition, ...]:
        """The conditions under which a method is studied: one without values if there is none."""
        found = [
            condition
            for sweep in self.conditions
            if sweep.concerns(method)
            for condition in sweep.conditions()
        ]
        return tuple(found) or ({},)

    def condition_count(self, method: Method) -> int:
        """How many conditions a method is studied under, without listing them."""
        return sum(sweep.count for sweep in self.conditions if sweep.concerns(method)) or 1

    @property
    def studies(self) -> int:
        """How many studies there are under each of the settings."""
        return len(self.graphs) * sum(map(self.condition_count, self.methods))

    def most_trainings(self, settings: str) -> int:
        """How many trainings there are if nothing is pruned."""
        return len(self.graphs) * sum(
            self.settings[settings].most_trainings(self.parameters(settings, method, condition))
            for method in self.methods
            for condition in self.conditions_of(method)
        )


def condition_text(condition: Condition) -> str:
    """``key=value`` pairs, sorted and joined by commas; values as YAML writes them."""
    return ",".join(f"{name}={written(condition[name])}" for name in sorted(condition))
