"""A training that is asked for, checked and given its graph, before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clar_tune.conditions import values_of
from clar_tune.configuration import Configuration, Pair
from clar_tune.errors import GraphError, ParameterError, TrainingError
from clar_tune.records import Params, TrainRecord, TrainSpec, Value
from clar_tune.version import NUMBERS_VERSION

if TYPE_CHECKING:
    from clar_tune.graphs import Graph, SearchNodes
    from clar_tune.models import Method
    from clar_tune.training import Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How one training goes, besides its graph, method and parameters."""

    condition: Mapping[str, Value] = field(default_factory=dict)
    """What of the graph is changed, and which parameters are fixed."""
    protocol: str = "balanced-60-20-20"
    preprocessing: str = "undirected"
    select: str = "loss"
    max_epochs: int = 1000
    patience: int = 100
    warmup: int = 50
    stop: str = "patience"
    outer_test: float = 0.0
    threads: int = 1
    engine: str = "auto"
    seed: int = 0
    index: int = 0
    """Number of the split and of the weights under that seed."""
    purpose: str = "repeat"
    """Those of a search, or of its ``final`` ones."""


RULES = tuple(rule.name for rule in fields(Rules))


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """A training that was checked and has its graph, but has not begun."""

    method: Method
    rules: Rules
    plain_hash: str
    spec: TrainSpec
    graph: Graph
    form: Form
    by_torch: str | None
    """Why torch trains what the native engine was asked to."""

    @property
    def nodes(self) -> SearchNodes:
        """Those that it trains on and is selected by."""
        from clar_tune.graphs import search_nodes

        spec = self.spec
        return search_nodes(self.graph, spec.protocol, spec.split_seed, spec.outer_test)

    @property
    def program(self) -> str | None:
        """What has to be compiled on this machine first, if anything has."""
        if self.spec.engine != "native":
            return None
        from clar_tune.engine import may_use_cache, name_of, team_size, uncompiled

        team = team_size(self.spec.backbone, self.spec.threads, self._entries)
        name = name_of(self.spec.backbone, team)
        return name if may_use_cache() and uncompiled([name]) else None

    def make_ready(self) -> None:
        """Load what trains it; a missing program is compiled."""
        from clar_tune.training import make_ready

        wrong = make_ready(self.spec, self._entries)
        if wrong:
            raise TrainingError(wrong)

    def configuration(self, record: TrainRecord) -> Configuration:
        """What trains it again; ``record`` is what came out of it."""
        spec, rules = self.spec, self.rules
        pair = Pair(
            number=rules.index,
            split_seed=spec.split_seed,
            init_seed=spec.init_seed,
            val_score=record.val_score,
        )
        same = (
            *("condition", "protocol", "params", "max_epochs", "patience", "warmup", "select"),
            *("stop", "optimizer", "engine", "threads", "outer_test"),
        )
        return Configuration(
            graph=spec.graph,
            graph_hash=self.plain_hash,
            preprocessing=self.graph.preprocessing,
            method=spec.method,
            metric=record.metric,
            seed=rules.seed,
            purpose=rules.purpose,
            numbers=NUMBERS_VERSION,
            pairs=(pair,),
            **{name: getattr(spec, name) for name in same},
        )

    @property
    def _entries(self) -> int:
        from clar_tune.search import Size

        return Size.of(self.graph).stored


def prepare_again(
    configuration: Configuration,
    params: Params,
    rules: Mapping[str, Any],
    data: Path | None = None,
) -> Prepared:
    """A configuration's training; ``params`` and ``rules`` are what is to be other than there."""
    same = (
        *("protocol", "preprocessing", "select", "max_epochs", "patience", "warmup", "stop"),
        *("outer_test", "threads", "engine", "seed", "purpose"),
    )
    before = Rules(
        condition=values_of(configuration.condition),
        index=configuration.pairs[0].number if configuration.pairs else 0,
        **{name: getattr(configuration, name) for name in same},
    )
    prepared = prepare(
        configuration.graph,
        configuration.method,
        {**configuration.params, **params},
        replace(before, **rules),
        data,
    )
    as_before = "preprocessing" not in rules
    if as_before and prepared.plain_hash != configuration.graph_hash:
        raise GraphError(
            f"{configuration.graph}: its content is {prepared.plain_hash}, the configuration is "
            f"for {configuration.graph_hash}. Give the former files with --data."
        )
    return prepared


def prepare(
    graph: str | Graph,
    method: str,
    params: Params,
    rules: Rules | None = None,
    data: Path | None = None,
) -> Prepared:
    """Check a training and load its graph; a mistake is told before any work."""
    from clar_tune.graphs import (
        Lookup,
        apply_variants,
        check_protocol,
        check_split,
        check_variant,
        parameters_of,
        seed_pair,
        variant_of,
    )
    from clar_tune.models import Method
    from clar_tune.space import condition_text
    from clar_tune.training import best_device, check_objective, choose_engine, form_of

    rules = rules or Rules()
    chosen, fixed = Method.parse(method), parameters_of(rules.condition)
    for name in params.keys() & fixed.keys():
        if params[name] != fixed[name]:
            raise ParameterError(
                f"{name}: {params[name]!r} was given, and the condition fixes {fixed[name]!r}. "
                "Give one of them."
            )
    complete = chosen.checked({**params, **fixed})
    variant = variant_of(rules.condition)
    check_variant(variant)
    lookup = Lookup(data)
    if isinstance(graph, str):
        check_protocol(graph, rules.protocol, lookup.dataset(graph).splits)
        plain = lookup.load(graph, rules.preprocessing)
    else:
        check_protocol(graph.name, rules.protocol, graph.splits)
        plain = graph
    varied = apply_variants(plain, variant, rules.seed)
    check_objective(varied.metric, rules.protocol, rules.select, chosen)
    check_split(varied, rules.protocol, rules.outer_test)
    device = "cpu" if rules.engine == "native" else best_device().type
    altered = chosen.altered(complete)
    engine = choose_engine(rules.engine, chosen, varied.metric, rules.select, device, altered)
    same = ("max_epochs", "patience", "warmup", "select", "stop", "threads", "outer_test")
    spec = chosen.spec(
        varied,
        complete,
        rules.protocol,
        seed_pair(
            *(varied.name, rules.protocol, rules.seed, rules.index, rules.purpose), varied.splits
        ),
        condition=condition_text(rules.condition),
        engine=engine.engine,
        device=device,
        **{name: getattr(rules, name) for name in same},
    )
    return Prepared(
        method=chosen,
        rules=rules,
        plain_hash=plain.hash,
        spec=spec,
        graph=varied,
        form=form_of(varied, engine.engine, device),
        by_torch=engine.reason,
    )
