"""A space as a frozen value, and what each of its studies may choose from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from clar_tune.errors import UnknownName
from clar_tune.graphs import VARIANTS, dataset_named, parameters_of
from clar_tune.records import Value, stored_as
from clar_tune.space.domains import Fixed, written
from clar_tune.space.parameters import Parameter, ParameterSet
from clar_tune.switches import IDLE, arms_beside

if TYPE_CHECKING:  # a space is read without torch
    from clar_tune.models import Method
    from clar_tune.precision import Precision

SAMPLERS = ("tpe", "gp", "random", "grid")
COEFFICIENTS = ("spearman", "pearson")

SMALL = 1_000
"""Graphs of fewer nodes may have more repeats."""

MARGIN = 0.01
"""Effects that are smaller count as none, unless a space says otherwise."""

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


@stored_as("trials", "repeats", "reduction", "sampler", "pruning", later=("small_repeats",))
@dataclass(frozen=True, slots=True)
class SearchRules:
    """The budget and the means of every search of a space."""

    trials: int = 16
    repeats: int = 9
    reduction: int = 3
    sampler: str = "tpe"
    pruning: bool = True
    small_repeats: int | None = None
    """Repeats on graphs of fewer than ``SMALL`` nodes, if those have others: their validation
    sets are tiny, and their trainings cost milliseconds."""

    def changed(self, **rules: Any) -> SearchRules:
        """With other rules; repeats that are named hold for all graphs."""
        small = None if "repeats" in rules else self.small_repeats
        return replace(self, small_repeats=small, **rules)

    def on(self, nodes: int) -> SearchRules:
        """The rules on a graph of some size."""
        if self.small_repeats is None or nodes >= SMALL:
            return replace(self, small_repeats=None)
        return replace(self, repeats=self.small_repeats, small_repeats=None)


@dataclass(frozen=True, slots=True)
class Levels:
    """Parameters of all methods, a backbone, a regularizer, a method, a graph; later ones win.

    The last word have those of one method on one graph.
    """

    shared: Parameters = field(default_factory=dict)
    backbones: Mapping[str, Parameters] = field(default_factory=dict)
    regularizers: Mapping[str, Parameters] = field(default_factory=dict)
    methods: Mapping[str, Parameters] = field(default_factory=dict)
    graphs: Mapping[str, Parameters] = field(default_factory=dict)
    """Of every graph that the settings have a word on, be it for single methods only."""
    methods_on: Mapping[str, Mapping[str, Parameters]] = field(default_factory=dict)
    """By graph and method."""

    def of(
        self, method: str, known: Collection[str], graph: str | None = None
    ) -> dict[str, Parameter]:
        """What a method may choose from, on a graph that may have its own word on it.

        Shared parameters, and those of graphs, that the method does not know are left out.
        """
        backbone, _, regularizer = method.partition("+")
        of_graph = self.graphs.get(graph, {}) if graph is not None else {}
        return {
            **{name: p for name, p in self.shared.items() if name in known},
            **self.backbones.get(backbone, {}),
            **self.regularizers.get(regularizer or "none", {}),
            **self.methods.get(method, {}),
            **{name: p for name, p in of_graph.items() if name in known},
            **(self.methods_on.get(graph, {}).get(method, {}) if graph is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class Settings:
    """One way to run a space.

    ``tuned``; ``paper`` for what the paper did; ``released`` for what its released code does.
    """

    training: TrainingRules = TrainingRules()
    search: SearchRules = SearchRules()
    finals: int = 10
    """How many; the least of them with ``precision``."""
    precision: Precision | None = None
    """What decides their number, if it is not fixed."""
    ablation: bool = True
    """Whether finals have arms beside ``on``."""
    protocols: Mapping[str, str] = field(default_factory=dict)
    """The protocol of each graph."""
    preprocessing: str = "undirected"
    levels: Levels = Levels()

    def most_trainings(self, parameters: ParameterSet, nodes: int, arms: int) -> int:
        """How many trainings a study has if nothing is pruned.

        Args:
            parameters: what it chooses from.
            nodes: of its graph.
            arms: that its finals have beside ``on``.
        """
        count, search = parameters.count, self.search.on(nodes)
        trials = search.trials if count is None else min(count, search.trials)
        finals = self.precision.at_most if self.precision else self.finals
        return finals * (1 + arms) + (0 if count == 1 else trials * search.repeats)


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
    conditions: tuple[Sweep, ...]
    settings: Mapping[str, Settings]
    """``tuned``, and ``paper`` and ``released`` where they are given."""
    margin: float = MARGIN
    """Effects that are smaller count as none."""
    paper: str | None = None
    """The table of the paper that its results stand beside, such as ``III``."""
    columns: tuple[str, ...] = ()
    """Keys of conditions that, with the method, make the columns of its table."""
    correlate: Correlate | None = None

    @property
    def protocols(self) -> Mapping[str, str]:
        """The protocol of each graph under its tuned settings."""
        return self.settings["tuned"].protocols

    @property
    def preprocessing(self) -> str:
        """That of its tuned settings."""
        return self.settings["tuned"].preprocessing

    def parameters(
        self, settings: str, method: Method, condition: Condition, graph: str | None = None
    ) -> ParameterSet:
        """What a study may choose from; the values of its condition are fixed.

        Variants of the graph, which a condition may name as well, are no parameters. Without a
        graph: what those choose from on which the settings have no word of their own.
        """
        if settings not in self.settings:
            raise UnknownName(f"settings of {self.name}", settings, self.settings)
        known, fixed = method.parameters(), parameters_of(condition)
        for name in fixed:
            if name not in known:
                raise UnknownName(f"parameter of {method.name}", name, [*known, *VARIANTS])
        chosen = self.settings[settings].levels.of(method.name, known, graph)
        places = {name: place for sweep in self.conditions for name, place in sweep.places.items()}
        for name, value in fixed.items():
            chosen[name] = Parameter(name, Fixed(value), place=places.get(name, ""))
        return ParameterSet([_with_idle(p, method.regularizer) for p in chosen.values()])

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

    def by_graph(
        self, settings: str, method: Method, condition: Condition, graphs: Sequence[str]
    ) -> dict[str, ParameterSet]:
        """:meth:`parameters` on some graphs; those without a word of their own share one set."""
        special = self.settings[settings].levels.graphs
        usual = self.parameters(settings, method, condition)
        return {
            graph: self.parameters(settings, method, condition, graph)
            if graph in special
            else usual
            for graph in graphs
        }

    def most_trainings(self, settings: str) -> int:
        """How many trainings there are if nothing is pruned."""
        return sum(self.most_by_study(settings))

    def most_by_study(self, settings: str) -> Iterator[int]:
        """How many trainings each study has if nothing is pruned."""
        chosen = self.settings[settings]
        pairs = [(m, condition) for m in self.methods for condition in self.conditions_of(m)]
        plain = {
            (m.backbone, condition_text(condition))
            for m, condition in pairs
            if m.regularizer == "none"
        }
        for method, condition in pairs:
            shared = method.backbone, condition_text(shared_condition(method, condition))
            arms = arms_beside(method.regularizer, plain=shared in plain)
            own = self.by_graph(settings, method, condition, self.graphs)
            for graph, parameters in own.items():
                nodes = dataset_named(graph).facts.nodes
                count = len(arms) if chosen.ablation else 0
                yield chosen.most_trainings(parameters, nodes, count)


def _with_idle(parameter: Parameter, regularizer: str) -> Parameter:
    """A searched parameter with what is known of where it does nothing."""
    ways = IDLE.get(regularizer, {}).get(parameter.name, ())
    return replace(parameter, idle=ways) if ways and parameter.domain.count != 1 else parameter


def shared_condition(method: Method, condition: Condition) -> Condition:
    """What of a condition the plain backbone of a method can be studied under."""
    known = {*VARIANTS, *method.plain.parameters()}
    return {name: value for name, value in condition.items() if name in known}


def condition_text(condition: Condition) -> str:
    """``key=value`` pairs, sorted and joined by commas; values as YAML writes them."""
    return ",".join(f"{name}={written(condition[name])}" for name in sorted(condition))
