"""What a run will do: a space and the options of its command, resolved into studies."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.graphs import (
    PROTOCOLS,
    check_protocol,
    check_size,
    check_variant,
    dataset_named,
    metric_of,
    variant_of,
)
from clar_tune.models import Method, known_elsewhere
from clar_tune.records import (
    ENGINE_CHOICES,
    SELECTIONS,
)
from clar_tune.rows import PlannedStudy, StudyColumns
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
    Settings,
    Space,
    condition_text,
    shared_condition,
)
from clar_tune.space.options import Options
from clar_tune.space.parameters import ParameterSet
from clar_tune.space.study_plan import StudyPlan
from clar_tune.space.validate import check_sampler
from clar_tune.training import check_objective, choose_engine
from clar_tune.validation import fraction, one_of, positive, whole


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

    def begun_as(self, before: Iterable[PlannedStudy]) -> "Plan":
        """The plan with what was decided when its run began: engines, and known points."""
        known = {study.place: study for study in before}
        studies = tuple(study.begun_as(known.get(study.place)) for study in self.studies)
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
            known=known_elsewhere(method, graph),
        )
