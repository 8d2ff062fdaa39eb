"""What a run will do: a space and the options of its command, resolved into studies."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.graphs import (
    PROTOCOLS,
    check_protocol,
    check_size,
    check_variant,
    dataset_named,
    metric_of,
    seed_pair,
    variant_of,
    varied_hash,
)
from clar_tune.models import Method, method_of_arm
from clar_tune.precision import Precision
from clar_tune.records import (
    ENGINE_CHOICES,
    SELECTIONS,
    Params,
    TrainSpec,
    Value,
    stored_as,
    to_stored,
)
from clar_tune.rows import PlannedStudy, StudyColumns, rungs_up_to
from clar_tune.seeds import seed_for
from clar_tune.space.bounds import (
    LARGEST_SEED,
    LONGEST_TIMEOUT,
    MOST_BUDGET,
    check_studies,
    check_trainings,
)
from clar_tune.space.groups import in_groups
from clar_tune.space.model import (
    SAMPLERS,
    Condition,
    SearchRules,
    Settings,
    Space,
    TrainingRules,
    condition_text,
    shared_condition,
)
from clar_tune.space.parameters import ParameterSet
from clar_tune.space.validate import check_sampler
from clar_tune.training import check_objective, choose_engine
from clar_tune.validation import fraction, one_of, positive, whole


@stored_as(
    *("settings", "graphs", "methods", "conditions", "protocol", "trials", "repeats", "finals"),
    *("sampler", "pruning", "selection", "outer_test", "seed", "threads", "cpus", "gpus"),
    *("trial_timeout", "first_trials"),
    later=("device", "ablation", "engine"),
    replicates="searches",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a command changes of a space; ``None`` leaves it as the space says."""

    settings: str = "tuned"
    graphs: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    conditions: tuple[str, ...] | None = None
    """``key=value`` each; a condition that has the key must have one of its values."""
    protocol: str | None = None
    trials: int | None = None
    repeats: int | None = None
    finals: int | None = None
    sampler: str | None = None
    pruning: bool | None = None
    selection: str | None = None
    replicates: int = 1
    outer_test: float = 0.0
    seed: int = 0
    threads: int = 1
    cpus: float = 1.0
    gpus: float = 0.0
    """What a trial occupied when the run began; a resumed one asks for the same."""
    trial_timeout: float = 1800.0
    first_trials: int | None = None
    """Trials asked for at first: an extended search keeps the start-up it had."""
    device: str | None = None
    """Where a run with a share of GPUs trains, ``cpu`` or ``cuda``, once its driver has looked."""
    ablation: bool = True
    """Whether winners are confirmed with their penalties switched off as well."""
    engine: str | None = None
    """What to train with, one of ``ENGINE_CHOICES``."""


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
        )

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


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run does, in the order in which studies are served."""

    space: Space
    options: Options
    studies: tuple[StudyPlan, ...]

    @property
    def settings(self) -> Settings:
        """Those that its options choose, with what they change of them."""
        return _settings(self.space, self.options)

    @property
    def graphs(self) -> tuple[str, ...]:
        """The graphs in the order in which they are served."""
        return tuple(dict.fromkeys(study.columns.graph for study in self.studies))

    def on(self, device: str) -> "Plan":
        """The plan with all of its trainings on a device; on GPUs torch does them."""
        here = device == "cpu"
        studies = tuple(
            replace(study, device=device, engine=study.engine if here else "torch")
            for study in self.studies
        )
        return Plan(self.space, replace(self.options, device=device), studies)

    def trained_by(self, engines: Mapping[tuple[str, str, str], str]) -> "Plan":
        """The plan with the engines that were decided on before, by graph, condition, method."""
        studies = tuple(
            replace(study, engine=engines.get(study.place, "torch")) for study in self.studies
        )
        return replace(self, studies=studies)


def make_plan(space: Space, options: Options) -> Plan:
    """Resolve and check everything that can be checked before any work starts."""
    settings = _settings(space, options)
    graphs = options.graphs or space.graphs
    methods = _methods(space, options)
    _refuse_doubles("--graphs", graphs)
    _refuse_doubles("--methods", [method.name for method in methods])
    _check_conditions(space, options, (*space.methods, *methods))
    for graph in graphs:
        dataset_named(graph)
        check_protocol(graph, _protocol(space, settings, options, graph))
        _check_outer_test(options, _protocol(space, settings, options, graph))
    pairs = [(method, c) for method in methods for c in _conditions(space, options, method)]
    check_studies(len(graphs) * options.replicates * len(pairs))
    subjects = [_subject(space, options, settings, graphs, *pair) for pair in pairs]
    ungrouped = [
        study
        for graph in graphs
        for subject in subjects
        for study in _studies(space, options, settings, graph, subject)
    ]
    studies = tuple(in_groups(ungrouped, options))
    if not studies:
        raise ParameterError(
            f"--conditions {','.join(options.conditions or ())}: no study of {space.name} has all."
        )
    check_trainings(sum(study.most_repeats + study.most_finals for study in studies))
    return Plan(space, options, studies)


def _settings(space: Space, options: Options) -> Settings:
    chosen = space.settings[one_of(f"settings of {space.name}", options.settings, space.settings)]
    for name in ("trials", "repeats", "finals"):
        if (value := getattr(options, name)) is not None:
            whole(f"--{name}", value, 1, MOST_BUDGET)
    whole("--searches", options.replicates, 1, MOST_BUDGET)
    whole("--seed", options.seed, 0, LARGEST_SEED)
    if positive("--trial-timeout", options.trial_timeout) > LONGEST_TIMEOUT:
        raise ParameterError(f"--trial-timeout: choose at most {LONGEST_TIMEOUT:g} seconds.")
    fraction("--outer-test", options.outer_test, below_one=True)
    changes = {
        name: value
        for name in ("trials", "repeats", "sampler", "pruning")
        if (value := getattr(options, name)) is not None
    }
    one_of("sampler", str(changes.get("sampler", chosen.search.sampler)), SAMPLERS)
    training = chosen.training
    if options.selection is not None:
        training = replace(training, select=one_of("selection", options.selection, SELECTIONS))
    if options.engine is not None:
        training = replace(training, engine=one_of("engine", options.engine, ENGINE_CHOICES))
    if options.finals is not None:
        chosen = replace(chosen, finals=options.finals, precision=None)
    ablation = options.ablation and chosen.ablation
    search = chosen.search.changed(**changes)
    return replace(chosen, search=search, training=training, ablation=ablation)


def _methods(space: Space, options: Options) -> tuple[Method, ...]:
    if options.methods is None:
        return space.methods
    methods = tuple(Method.parse(name) for name in options.methods)
    levels = space.settings[options.settings].levels
    for method in methods:
        tuned = {"none", *levels.regularizers}
        if method.regularizer not in tuned and method.name not in levels.methods:
            raise ParameterError(
                f"--methods {method.name}: {space.name} says nothing on {method.regularizer}, "
                "which would stand untuned beside the others. Write a space of your own."
            )
    return methods


def _check_conditions(space: Space, options: Options, methods: Sequence[Method]) -> None:
    known = {pair for m in methods for c in space.conditions_of(m) for pair in _pairs(c)}
    if options.conditions and not known:
        raise ParameterError(f"--conditions: {space.name} has none. Leave it out.")
    for pair in options.conditions or ():
        if pair not in known:
            raise UnknownName(f"condition of {space.name}", pair, sorted(known))


def _conditions(space: Space, options: Options, method: Method) -> Iterator[Condition]:
    """The conditions of a method, without those that differ from all that are asked for."""
    asked = set(options.conditions or ())
    keys = {pair.partition("=")[0] for pair in asked}
    for condition in space.conditions_of(method):
        if all(pair in asked for pair in _pairs(condition) if pair.partition("=")[0] in keys):
            yield condition


def _pairs(condition: Condition) -> list[str]:
    return [condition_text({name: value}) for name, value in condition.items()]


def _refuse_doubles(option: str, names: Sequence[str]) -> None:
    doubled = sorted(name for name, times in Counter(names).items() if times > 1)
    if doubled:
        raise ParameterError(f"{option}: {', '.join(doubled)} is named twice.")


def _protocol(space: Space, settings: Settings, options: Options, graph: str) -> str:
    """The protocol of a graph; one that the space does not list takes the others' one."""
    if options.protocol:
        return options.protocol
    if graph in settings.protocols:
        return settings.protocols[graph]
    usual = set(settings.protocols.values())
    if len(usual) > 1:
        raise ParameterError(
            f"--graphs {graph}: {space.name} names no protocol for it. Add --protocol."
        )
    return usual.pop()


def _check_outer_test(options: Options, protocol: str) -> None:
    if options.outer_test and PROTOCOLS[protocol].fixed:
        raise ParameterError(
            f"--outer-test {options.outer_test}: {protocol} comes with its own test nodes. "
            "Leave it out, or choose a protocol that draws its splits."
        )


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is studied on every graph."""

    method: Method
    condition: Condition
    parameters: Mapping[str, ParameterSet]
    """By graph, what is chosen from there."""


def _subject(
    space: Space,
    options: Options,
    settings: Settings,
    graphs: Sequence[str],
    method: Method,
    condition: Condition,
) -> _Subject:
    """A method under a condition, checked as far as its tasks do not matter."""
    rules = settings.search
    found = space.by_graph(options.settings, method, condition, graphs)
    check_variant(variant_of(condition))
    for parameters in {id(own): own for own in found.values()}.values():
        check_sampler(rules.sampler, rules.pruning, parameters, f"{space.name}, {method.name}")
        method.checked(parameters.at([0.5] * len(parameters.searched)))
    return _Subject(method, condition, found)


def _studies(
    space: Space, options: Options, settings: Settings, graph: str, subject: _Subject
) -> Iterator[StudyPlan]:
    method, condition, dataset = subject.method, subject.condition, dataset_named(graph)
    rules = settings.search.on(dataset.facts.nodes)
    protocol, variant = _protocol(space, settings, options, graph), variant_of(condition)
    metric = metric_of(variant, dataset.metric)
    check_size(variant, graph, dataset.facts.nodes)
    check_objective(metric, protocol, settings.training.select, method)
    device, asked = options.device or "cpu", settings.training
    engine = choose_engine(asked.engine, method, metric, asked.select, device).engine
    for search in range(options.replicates):
        yield StudyPlan(
            columns=StudyColumns(
                space=space.name,
                settings=options.settings,
                graph=graph,
                method=method.name,
                backbone=method.backbone,
                regularizer=method.regularizer,
                condition=condition_text(condition),
                protocol=protocol,
                search=search,
            ),
            variant=variant,
            shared_condition=condition_text(shared_condition(method, condition)),
            metric=metric,
            method=method,
            parameters=subject.parameters[graph],
            rules=rules,
            training=settings.training,
            finals=settings.finals,
            startup=max(4, (options.first_trials or rules.trials) // 4),
            first_trials=options.first_trials or rules.trials,
            seed=seed_for("search", options.seed, search) if search else options.seed,
            threads=options.threads,
            outer_test=options.outer_test,
            device=device,
            precision=settings.precision,
            ablation=settings.ablation,
            engine=engine,
        )
