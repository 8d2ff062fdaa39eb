"""From a space and options to studies."""

import json

import pytest
from support.simulation import SPACE, plan_from

from clar_tune.errors import ClarTuneError, ParameterError, SpaceError, UnknownName
from clar_tune.records import from_stored, to_stored
from clar_tune.rows import PlannedStudy, rungs_up_to
from clar_tune.space import ParameterSet, load_space, make_plan, shipped_spaces
from clar_tune.space.options import Options


def names(**options) -> list[str]:
    return [study.name for study in plan_from(**options).studies]


def test_studies_are_graphs_times_methods_graph_by_graph():
    assert names() == [
        "csbm-homophily gcn",
        "csbm-homophily gcn+clar",
        "csbm-heterophily gcn",
        "csbm-heterophily gcn+clar",
    ]


def test_options_choose_graphs_and_methods_also_beyond_the_space():
    chosen = names(graphs=("csbm-heterophily",), methods=("sage+clar", "gcn"))
    assert chosen == ["csbm-heterophily sage+clar", "csbm-heterophily gcn"]
    assert names(graphs=("texas",), methods=("gcn",)) == ["texas gcn"]


def test_options_change_budgets_and_rules():
    plan = plan_from(trials=3, repeats=2, finals=7, sampler="random", pruning=False)
    study = plan.studies[1]
    assert (study.rules.trials, study.rules.repeats, study.finals) == (3, 2, 7)
    assert (study.rules.sampler, study.rules.pruning) == ("random", False)
    assert plan_from(selection="accuracy").studies[0].training.select == "accuracy"


def test_startup_is_a_quarter_and_at_least_four_and_stays_when_extended():
    assert plan_from(trials=8).studies[1].startup == 4
    assert plan_from(trials=40).studies[1].startup == 10
    assert plan_from(trials=80, first_trials=40).studies[1].startup == 10


def test_repeated_searches_differ_in_their_seed_alone():
    first, second = plan_from(replicates=2, methods=("gcn",), graphs=("texas",)).studies
    assert (first.columns.search, second.columns.search) == (0, 1)
    assert first.seed != second.seed and first.parameters == second.parameters


def test_options_survive_the_manifest():
    options = Options(
        graphs=("texas",), conditions=("layers=2",), trials=3, pruning=False, outer_test=0.2
    )
    assert from_stored(Options, json.loads(json.dumps(to_stored(options)))) == options


@pytest.mark.parametrize(
    "options",
    [
        {"graphs": ("coral",)},
        {"methods": ("gcn+klar",)},
        {"protocol": "balanced"},
        {"sampler": "tpee"},
        {"selection": "los"},
        {"engine": "nativ"},
        {"settings": "tunde"},
    ],
)
def test_misspelt_names_are_refused_with_the_nearest(options):
    with pytest.raises(UnknownName, match="Did you mean"):
        plan_from(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"trials": 0},
        {"finals": -1},
        {"replicates": 0},
        {"seed": -1},
        {"outer_test": 1.0},
        {"outer_test": -0.1},
        {"trial_timeout": 0.0},
        {"graphs": ("texas", "texas"), "methods": ("gcn",)},
        {"methods": ("gcn", "gcn")},
        {"methods": ("gcn", "gcn+none")},
        {"graphs": ("texas", "texas")},
        {"methods": ("gcn+adagraph",)},
        {"protocol": "planetoid"},
        {"graphs": ("cora",), "protocol": "planetoid", "outer_test": 0.2},
    ],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ParameterError):
        plan_from(**options)


def test_samplers_that_cannot_serve_a_space_are_refused():
    with pytest.raises(ClarTuneError, match="pruning"):
        plan_from(sampler="gp")
    with pytest.raises(ClarTuneError, match="clamp|depend|when"):
        plan_from(sampler="gp", pruning=False)
    with pytest.raises(ClarTuneError, match="grid"):
        plan_from(sampler="grid")
    assert (
        plan_from(
            SPACE.replace("beta: {low: 0.001, high: 1, log: true}", "beta: 1"), sampler="grid"
        )
        .studies[1]
        .trials
        == 9
    )


VARIED = """
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
protocol: PROTOCOL
conditions: CONDITIONS
training: {select: SELECT}
settings: {tuned: {shared: {hidden: 8}}}
"""


def varied_plan(sweeps: str, protocol: str = "balanced-60-20-20", **options):
    text = VARIED.replace("PROTOCOL", protocol).replace("CONDITIONS", sweeps)
    return plan_from(text.replace("SELECT", options.pop("select", "loss")), **options)


def test_a_condition_is_parted_into_variants_and_fixed_parameters():
    plan = varied_plan("[{sweep: {drop_edges: [0, 0.3], layers: [2, 4]}}]", methods=("gcn",))
    studies = plan.studies
    assert [study.variant for study in studies] == [{"drop_edges": d} for d in (0, 0, 0.3, 0.3)]
    assert [study.parameters.at([])["layers"] for study in studies] == [2, 4, 2, 4]
    assert studies[3].columns.condition == "drop_edges=0.3,layers=4"
    assert {study.metric for study in studies} == {"accuracy"}


SWEPT = """[
  {sweep: {layers: [2, 4, 8]}, methods: [gcn]},
  {sweep: {layers: [2, 4, 8], clamp: [1, null]}, methods: [gcn+clar]}]"""


def swept(*conditions: str) -> list[str]:
    plan = varied_plan(SWEPT, conditions=conditions)
    return [f"{s.columns.method} {s.columns.condition}" for s in plan.studies]


def test_options_choose_values_of_a_sweep_and_keep_conditions_without_the_key():
    assert swept("layers=4", "clamp=null") == ["gcn layers=4", "gcn+clar clamp=null,layers=4"]
    assert swept("layers=8", "layers=2", "clamp=1") == [
        *("gcn layers=2", "gcn layers=8"),
        *("gcn+clar clamp=1,layers=2", "gcn+clar clamp=1,layers=8"),
    ]
    assert len(swept("clamp=1")) == 6
    # A key that the chosen methods do not have leaves all of their conditions.
    assert len(varied_plan(SWEPT, conditions=("clamp=1",), methods=("gcn",)).studies) == 3


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            "layers=3",
            "unknown condition of .* 'layers=3'. Did you mean 'layers=.*Allowed: clamp=1",
        ),
        ("layer=2", "Did you mean 'layers=2'"),
        ("layers", "Did you mean 'layers="),
    ],
)
def test_values_that_no_sweep_has_are_refused(given, problem):
    with pytest.raises(UnknownName, match=problem):
        swept(given)


def test_conditions_of_a_space_without_any_are_refused():
    with pytest.raises(ParameterError, match="has none"):
        plan_from(conditions=("layers=2",))


def test_a_choice_that_leaves_no_study_is_refused():
    apart = "[{sweep: {layers: [2]}, methods: [gcn]}, {sweep: {layers: [4]}, methods: [gcn+clar]}]"
    assert len(varied_plan(apart, conditions=("layers=4",)).studies) == 1
    with pytest.raises(ParameterError, match="no study of"):
        varied_plan(
            "[{sweep: {layers: [2], hidden: [4]}}, {sweep: {layers: [4], hidden: [8]}}]",
            conditions=("layers=2", "hidden=8"),
        )


def test_the_metric_of_a_study_is_that_of_its_variant():
    plan = varied_plan("[{sweep: {filter: [low-pass, high-pass]}}]", "whole-graph")
    assert {study.metric for study in plan.studies} == {"mse"}
    plan = plan_from(graphs=("minesweeper",), protocol="fixed-10", methods=("gcn",))
    assert plan.studies[0].metric == "roc_auc" and plan.studies[0].variant == {}


FILTER = "[{sweep: {filter: [low-pass]}}]"
BAND = "[{sweep: {band: [1]}}]"


@pytest.mark.parametrize(
    ("conditions", "options", "problem"),
    [
        (FILTER, {}, "a filter is learned on all nodes.*whole-graph"),
        (BAND, {"protocol": "whole-graph"}, "nodes that they were learned from"),
        (FILTER, {"protocol": "whole-graph", "select": "accuracy"}, "metric here is mse"),
        (FILTER, {"protocol": "whole-graph", "selection": "accuracy"}, "metric here is mse"),
        (BAND, {"graphs": ("pubmed",)}, "band: pubmed has 19,717 nodes"),
        (FILTER, {"protocol": "whole-graph", "outer_test": 0.2}, "own test nodes"),
        ("[{sweep: {filter: [low-pass], band: [1]}}]", {"protocol": "whole-graph"}, "Keep one"),
    ],
)
def test_impossible_variants_are_refused_before_any_work(conditions, options, problem):
    with pytest.raises(ClarTuneError, match=problem):
        varied_plan(conditions, **options)


def test_a_filter_cannot_be_learned_by_classes():
    text = VARIED.replace("PROTOCOL", "whole-graph").replace("CONDITIONS", FILTER)
    text = text.replace("gcn+clar", "gcn+adagraph").replace("SELECT", "loss")
    with pytest.raises(SpaceError, match="adagraph goes by predicted classes"):
        plan_from(text)


def test_the_selection_by_score_fits_every_classification():
    options = {"graphs": ("minesweeper",), "protocol": "fixed-10", "methods": ("gcn",)}
    assert plan_from(**options, selection="accuracy").studies[0].training.select == "accuracy"


@pytest.mark.parametrize("space", sorted(shipped_spaces()))
def test_what_a_study_chooses_from_is_read_from_a_manifest_as_it_was_written(space):
    for settings in load_space(space).settings:
        for study in make_plan(load_space(space), Options(settings=settings)).studies:
            stored = json.loads(json.dumps(to_stored(study.planned)))
            planned = from_stored(PlannedStudy, stored)
            assert planned == study.planned
            assert ParameterSet.from_stored(planned.parameters) == study.parameters


def test_a_planned_study_says_what_it_gets():
    plan = make_plan(load_space("quickstart"), Options(trials=5, repeats=9, finals=4))
    planned = plan.studies[0].planned
    assert (planned.trials, planned.repeats, planned.finals) == (5, 9, 4)
    assert planned.rungs == (1, 3, 9)
    free = make_plan(load_space("quickstart"), Options(repeats=4, pruning=False))
    assert free.studies[0].planned.rungs == ()
    grid = make_plan(load_space("sensitivity"), Options(settings="tuned")).studies[0].planned
    assert (grid.trials, grid.repeats, grid.rungs) == (1, 0, ())


@pytest.mark.parametrize(
    ("repeats", "reduction", "rungs"),
    [
        (9, 3, (1, 3, 9)),
        (10, 3, (1, 3, 9, 10)),
        (1, 3, (1,)),
        (8, 2, (1, 2, 4, 8)),
        (2, 3, (1, 2)),
    ],
)
def test_rungs_are_powers_and_the_last_repeat(repeats, reduction, rungs):
    assert rungs_up_to(repeats, reduction) == rungs


def test_an_arm_of_finals_meets_the_pair_of_its_winner_under_a_key_of_its_own():
    study = plan_from(methods=("gcn+clar",)).studies[0]
    params = study.method.checked({})
    on, off, crossed = (study.spec(params, "final", 3, "abc", arm) for arm in ("on", "off", "any"))
    assert study.spec(params, "final", 3, "abc") == on
    assert (on.regularizer, off.regularizer, crossed.regularizer) == ("clar", "none", "clar")
    assert len({spec.key for spec in (on, off, crossed)}) == 3
    assert len({(spec.split_seed, spec.init_seed) for spec in (on, off, crossed)}) == 1


def test_the_stop_rule_of_a_space_is_that_of_its_trainings():
    usual = plan_from().studies[0]
    released = plan_from(SPACE + "training: {stop: released}\n").studies[0]
    params = usual.method.checked({})
    specs = [study.spec(params, "final", 0, "abc") for study in (usual, released)]
    assert [spec.stop for spec in specs] == ["patience", "released"]
    assert specs[0].key != specs[1].key
    with pytest.raises(SpaceError, match="unknown stop 'relased'. Did you mean 'released'"):
        plan_from(SPACE + "training: {stop: relased}\n")


def arms(**options) -> dict[str, tuple[str, ...]]:
    return {s.columns.method: s.arms for s in plan_from(GROUPED, **options).studies}


GROUPED = """
graphs: [csbm-homophily]
methods: [gcn, gcn+clar, gcn+dropedge, sage+clar, sage+nl]
protocol: balanced-60-20-20
search: {trials: 16}
settings:
  tuned:
    shared: {lr: {low: 0.001, high: 0.1, log: true}}
    regularizers: {clar: {}, dropedge: {rate: 0.5}, nl: {}}
"""


def test_arms_are_planned_beside_a_plain_study_of_the_backbone():
    assert arms() == {
        "gcn": (),
        "gcn+clar": ("off", "cross", "nl", "any"),
        "gcn+dropedge": ("off", "cross"),
        "sage+clar": ("off", "nl", "any"),
        "sage+nl": ("off",),
    }
    assert set(arms(ablation=False).values()) == {()}


def test_the_plain_study_of_an_arm_may_lack_parameters_of_the_regularizer():
    found = {study.name: study.arms for study in varied_plan(SWEPT).studies}
    assert found["csbm-homophily gcn+clar clamp=null,layers=4"][:2] == ("off", "cross")
    apart = varied_plan(SWEPT.replace("[2, 4, 8]}, methods: [gcn]", "[2]}, methods: [gcn]"))
    found = {study.name: study.arms for study in apart.studies}
    assert found["csbm-homophily gcn+clar clamp=1,layers=2"][:2] == ("off", "cross")
    assert found["csbm-homophily gcn+clar clamp=1,layers=4"] == ("off", "nl", "any")


def exchanged(text: str = GROUPED, **options) -> dict[str, int]:
    return {s.columns.method: s.exchanged for s in plan_from(text, **options).studies}


def test_a_quarter_of_the_trials_is_exchanged_where_a_plain_study_is_among_others():
    sixteen = {"gcn": 4, "gcn+clar": 4, "gcn+dropedge": 4, "sage+clar": 0, "sage+nl": 0}
    assert exchanged() == sixteen
    assert exchanged(trials=8)["gcn"] == 2 and exchanged(trials=43)["gcn"] == 10
    assert exchanged(trials=7)["gcn"] == 0
    assert exchanged(sampler="random") == exchanged(sampler="gp", pruning=False) == sixteen
    assert exchanged(methods=("gcn",)) == {"gcn": 0}
    assert exchanged(trials=36, first_trials=16) == sixteen


def test_a_study_without_a_search_or_with_a_used_up_space_exchanges_nothing():
    finite = GROUPED.replace("{low: 0.001, high: 0.1, log: true}", "{choices: [0.01, 0.1]}")
    assert set(exchanged(finite).values()) == {0}
    assert set(exchanged(finite, sampler="grid").values()) == {0}
    one = finite.replace("{rate: 0.5}", "{rate: {low: 0, high: 0.5}}")
    # gcn has two configurations, clar too: dropedge alone has nobody to learn from.
    assert set(exchanged(one).values()) == {0}
    both = one.replace("clar: {}", "clar: {alpha: {low: 0, high: 1}}")
    assert exchanged(both) == {**exchanged(one), "gcn+clar": 4, "gcn+dropedge": 4}


def test_a_planned_study_tells_its_arms_and_its_exchange():
    planned = plan_from(GROUPED).studies[1].planned
    assert (planned.arms, planned.exchanged) == (("off", "cross", "nl", "any"), 4)
    assert from_stored(PlannedStudy, json.loads(json.dumps(to_stored(planned)))) == planned


def engines(plan) -> set[str]:
    return {study.engine for study in plan.studies}


def test_an_engine_is_resolved_for_each_study_and_stored():
    assert engines(plan_from(engine="torch")) == {"torch"}
    native = plan_from(methods=("gcn", "gcn+clar"))
    assert engines(native) == engines(plan_from(engine="native")) == {"native"}
    assert {study.planned.engine for study in native.studies} == {"native"}
    study = native.studies[0]
    spec = study.spec(study.method.complete({}), "repeat", 0, "hash")
    assert spec.engine == "native"
    own = SPACE + "training: {engine: torch}\n"
    assert engines(plan_from(own)) == {"torch"}
    assert engines(plan_from(own, engine="native")) == {"native"}


def test_a_plan_keeps_the_engines_that_were_decided_on():
    """As a later version, or another machine, would decide otherwise."""
    native = plan_from(engine="native")
    first, *others = native.studies
    kept = native.begun_as([first.planned])
    assert [study.engine for study in kept.studies] == ["native", *["torch"] * len(others)]


def test_on_a_gpu_torch_trains():
    assert engines(plan_from(engine="native").on("cuda")) == {"torch"}
    assert engines(plan_from(engine="native").on("cpu")) == {"native"}
    assert engines(plan_from(engine="native", device="cuda")) == {"torch"}
