"""The plan of one study: its budget, its rules, and the specification of each training."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from clar_tune.graphs import seed_pair, varied_hash
from clar_tune.models import Method, method_of_arm
from clar_tune.precision import Precision
from clar_tune.records import Params, TrainSpec, Value, to_stored
from clar_tune.rows import PlannedStudy, StudyColumns, rungs_up_to
from clar_tune.space.model import SearchRules, TrainingRules
from clar_tune.space.parameters import ParameterSet

Group = tuple[str, str, str, int]
"""Graph, backbone, condition without parameters of regularizers, number of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """The search for one (graph, method, condition), with its budget and its rules."""

    columns: StudyColumns
    variant: Mapping[str, Value]
    """What the condition changes of the graph; its other values are fixed parameters."""
    shared_condition: str
    """What of the condition its backbone knows too."""
    metric: str
    method: Method
    parameters: ParameterSet
    rules: SearchRules
    training: TrainingRules
    finals: int
    """How many; the least of them with ``precision``."""
    startup: int
    """How many trials are quasi-random before the sampler learns."""
    first_trials: int
    """Trials of its search as it was first asked for: what comes later extends it."""
    seed: int
    threads: int
    outer_test: float
    device: str = "cpu"
    precision: Precision | None = None
    """What decides the number of finals, if it is not fixed; in the units of scores."""
    ablation: bool = True
    """Whether its winner's finals have arms beside ``on``."""
    arms: tuple[str, ...] = ()
    """Arms that its finals have beside ``on``, as far as its winner allows."""
    exchanged: int = 0
    """How many of the last trials of its search, as it was first asked for, try the shared
    parameters that other studies of its group found best."""
    engine: str = "torch"
    """What trains it: ``training.engine`` as it could be had when the run was planned."""
    known: Params | None = None
    """Weights that its search begins with, where its graph has others than the usual ones."""

    @property
    def group(self) -> Group:
        """Studies of one group share parameters: those of a backbone on a graph, in one search.

        Their conditions differ in parameters of regularizers alone.
        """
        of = self.columns
        return of.graph, of.backbone, self.shared_condition, of.search

    @property
    def name(self) -> str:
        """For people: graph, method, condition."""
        c = self.columns
        number = f"search {c.search}" if c.search else ""
        return " ".join(part for part in (c.graph, c.method, c.condition, number) if part)

    @property
    def place(self) -> tuple[str, str, str]:
        """Graph, condition and method, by which stored runs know it."""
        return self.columns.graph, self.columns.condition, self.columns.method

    @property
    def planned(self) -> PlannedStudy:
        """What the manifest says of it."""
        of, rules = self.columns, self.rules
        pruned = self.has_search and rules.pruning
        return PlannedStudy(
            graph=of.graph,
            method=of.method,
            condition=of.condition,
            protocol=of.protocol,
            metric=self.metric,
            trials=rules.trials if self.has_search else 1,
            repeats=rules.repeats if self.has_search else 0,
            finals=self.finals,
            rungs=rungs_up_to(rules.repeats, rules.reduction) if pruned else (),
            parameters=self.parameters.stored,
            arms=self.arms,
            exchanged=self.exchanged,
            precision=to_stored(self.precision),
            engine=self.engine,
            known=self.known,
        )

    def begun_as(self, before: PlannedStudy | None) -> "StudyPlan":
        """The plan with what was decided when its run began; without that, as once was usual."""
        engine, known = (before.engine, before.known) if before else ("torch", None)
        return replace(self, engine=engine, known=known)

    @property
    def has_search(self) -> bool:
        """Whether there is anything to search; otherwise its one trial goes to the finals."""
        return bool(self.parameters.searched)

    @property
    def trials(self) -> int:
        """How many trials it can have: a finite space may hold fewer than asked for."""
        count = self.parameters.count
        return self.rules.trials if count is None else min(self.rules.trials, count)

    @property
    def most_repeats(self) -> int:
        """How many trainings its search has if nothing is pruned."""
        return self.trials * self.rules.repeats if self.has_search else 0

    @property
    def most_finals(self) -> int:
        """How many trainings its finals are at most, those of all arms together."""
        finals = self.precision.at_most if self.precision else self.finals
        return finals * (1 + len(self.arms))

    def complete(self, chosen: Params) -> dict[str, Value]:
        """All parameters of a configuration: the same for all that train the same.

        What is idle in it takes its default, whatever was chosen.
        """
        return self.method.complete(self.parameters.active_of(chosen))

    def spec(
        self, params: Params, purpose: str, index: int, graph_hash: str, arm: str = "on"
    ) -> TrainSpec:
        """Repeat or final number ``index`` of a configuration; ``params`` are complete.

        ``graph_hash`` is that of the graph before this study varies it; ``params`` of an arm of
        finals are those that ``arms_of`` gives it.
        """
        of, training = self.columns, self.training
        split_seed, init_seed = seed_pair(of.graph, of.protocol, self.seed, index, purpose)
        return TrainSpec(
            graph=of.graph,
            graph_hash=varied_hash(graph_hash, self.variant, self.seed),
            backbone=of.backbone,
            regularizer=method_of_arm(self.method, arm).regularizer,
            protocol=of.protocol,
            split_seed=split_seed,
            init_seed=init_seed,
            params=params,
            condition=of.condition,
            outer_test=self.outer_test,
            max_epochs=training.max_epochs,
            patience=training.patience,
            warmup=training.warmup,
            select=training.select,
            optimizer=training.optimizer,
            threads=self.threads,
            device=self.device,
            stop=training.stop,
            arm=arm,
            beside=of.method if arm == "off" else "",
            engine=self.engine,
        )
