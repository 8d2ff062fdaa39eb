"""Parameters that do nothing beside some values of others: not searched, and no duplicates."""

import json
from dataclasses import replace
from itertools import combinations

import pytest
import torch
from hypothesis import given, settings, strategies as st
from support.simulation import plan_from

from clar_tune.errors import SpaceError
from clar_tune.models import Method
from clar_tune.records import Value
from clar_tune.search.sampler import Sampler
from clar_tune.space.domains import Choice, Fixed, Range
from clar_tune.space.parameters import Parameter, ParameterSet
from clar_tune.switches import IDLE, is_off
from clar_tune.testing.short_training import trained

HEAD = "graphs: [texas]\nmethods: [gcn+{0}]\nsettings: {{tuned: {{regularizers: {{{0}: {1}}}}}}}"

VALUES: dict[str, dict[str, list[Value]]] = {
    "clar": {
        "alpha": [0, 1, 2],
        "beta": [0, 1, 2],
        "samples": [1, 2],
        "sampling": ["node", "edge", "any"],
        "clamp": [1, 10, None],
        "reduction": ["node-mean", "trace", "released"],
        "scale": [1, 10],  # ten times a weight is none of the weights
    },
    "nl": {"alpha": [0, 1], "clamp": [1, None], "reduction": ["node-mean", "trace"]},
    "preg": {"weight": [0, 0.1, 1], "form": ["squared", "ce"]},
    "madreg": {"weight": [0, 1], "clamp": [1, None], "near": [1, 2], "remote": [4, 5]},
    "dropedge": {"rate": [0, 0.5]},
    "adagraph": {
        "rounds": [1, 2],
        "n_add": [0, 4],
        "n_drop": [0, 4],
        "t_add": [0.0, 0.5],
        "t_drop": [0.0, 0.5],
        "order": ["add-first", "drop-first"],
    },
    "prior": {"tau": [0, 0.5]},
    "seen": {"classes": ["validation", "all"]},
}


def study(regularizer: str, domains: dict[str, list[Value]], **options):
    text = json.dumps({name: {"choices": values} for name, values in domains.items()})
    return plan_from(HEAD.format(regularizer, text), **options).studies[0]


def effect(regularizer: str, params: dict[str, Value]) -> tuple[Value, ...]:
    """What of a complete configuration a training depends on, told from the formulas."""
    p = dict(params)
    if is_off(regularizer, params):
        return ("off",)
    if regularizer == "clar":
        scale = p.get("scale", 1.0)
        drawn = (p["samples"], p["sampling"]) if p["beta"] else ()
        return scale * p["alpha"], scale * p["beta"], p["clamp"], p["reduction"], *drawn
    if regularizer == "adagraph":
        added = (p["n_add"], p["t_add"]) if p["n_add"] else ()
        dropped = (p["n_drop"], p["t_drop"]) if p["n_drop"] else ()
        order = (p["order"],) if added and dropped else ()
        return p["rounds"], "add", *added, "drop", *dropped, *order
    return tuple(p[name] for name in VALUES[regularizer])


def test_the_grid_of_the_paper_has_15_cells():
    weights = [0, 1, 2]
    cells = study("clar", {"alpha": weights, "beta": weights, "samples": [1, 2]}).parameters
    assert cells.count == len(list(cells.configurations())) == 15


@pytest.mark.parametrize("regularizer", VALUES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_two_configurations_of_a_finite_space_train_the_same(regularizer, data):
    known = VALUES[regularizer]
    names = data.draw(st.sets(st.sampled_from(list(known)), min_size=1))
    domains = {
        name: data.draw(st.lists(st.sampled_from(known[name]), min_size=1, unique=True))
        for name in sorted(names)
    }
    found = study(regularizer, domains)
    complete = [found.complete(chosen) for chosen in found.parameters.configurations()]
    distinct = {effect(regularizer, params) for params in complete}
    assert len(complete) == len(distinct) == found.parameters.count
    whole = _every(found.method, domains)
    assert distinct == {effect(regularizer, params) for params in whole}
    assert {json.dumps(found.complete(params)) for params in whole} == {
        json.dumps(params) for params in complete
    }


def _every(method: Method, domains: dict[str, list[Value]]) -> list[dict[str, Value]]:
    """All combinations, also those that train the same."""
    parameters = [Parameter(name, Choice(tuple(values))) for name, values in domains.items()]
    return [method.complete(chosen) for chosen in ParameterSet(parameters).configurations()]


WAYS = [
    (regularizer, name, way)
    for regularizer, parameters in IDLE.items()
    for name, ways in parameters.items()
    for way in ways
]


@pytest.mark.parametrize(("regularizer", "name", "way"), WAYS, ids=str)
def test_what_is_idle_changes_no_training(regularizer, name, way):
    method = Method("gcn", regularizer)
    usual = {"n_add": 4, "n_drop": 4, "t_add": 0.0, "t_drop": 0.0, "rounds": 2}
    others = usual if regularizer == "adagraph" else {"near": 1, "remote": 3}
    given = {n: v for n, v in {**others, **way}.items() if n in method.parameters()}
    results = [trained(method, {**given, name: value}) for value in VALUES[regularizer][name]]
    for (first, logits), (second, more) in combinations(results, 2):
        assert torch.equal(logits, more)
        assert replace(first, key="", facts={}) == replace(second, key="", facts={})


def test_what_is_not_idle_changes_a_training():
    for name, values in (("samples", [1, 3]), ("sampling", ["node", "any"])):
        first, second = (trained(Method("gcn", "clar"), {name: v})[1] for v in values)
        assert not torch.equal(first, second)


@pytest.mark.parametrize("sampler", ["tpe", "random", "grid"])
def test_a_sampler_proposes_each_of_them_once_and_says_when_it_is_used_up(sampler):
    domains = {"alpha": [0, 1], "beta": [0, 1], "samples": [1, 2], "clamp": [1, None]}
    plan = study("clar", domains, sampler=sampler, trials=50)
    asked, found = Sampler(plan, maximise=True), []
    while (params := asked.propose(len(found))) is not None:
        asked.complete(len(found), 0.5)
        found.append(params)
    assert asked.used_up
    # Off; alpha alone with two clamps; beta with two alphas, two counts, two clamps.
    assert len(found) == 1 + 2 + 2 * 2 * 2
    assert len({effect("clar", params) for params in found}) == len(found)


def test_a_stored_configuration_counts_as_the_one_that_trains_the_same():
    plan = study("clar", {"alpha": [0, 1], "beta": [0, 1], "samples": [1, 2]}, trials=20)
    asked = Sampler(plan, maximise=True)
    for number, samples in enumerate((1, 2)):
        asked.start(number, plan.method.complete({"alpha": 1, "beta": 0, "samples": samples}))
    found = []
    while (params := asked.propose(2 + len(found))) is not None:
        found.append(params)
    assert len(found) == 6 - 1
    assert not any(params["alpha"] and not params["beta"] for params in found)


def test_idle_values_are_stored_as_their_defaults():
    plan = study("clar", {"alpha": [0], "beta": [0, 1], "samples": [4, 2], "clamp": [10, None]})
    off = plan.complete({"alpha": 0, "beta": 0, "samples": 4, "clamp": None})
    assert (off["samples"], off["clamp"]) == (1, 1.0)
    on = plan.complete({"alpha": 0, "beta": 1, "samples": 4, "clamp": None})
    assert (on["samples"], on["clamp"]) == (4, None)


def test_a_fixed_value_stays_what_the_space_says_though_it_does_nothing():
    text = "{alpha: {choices: [0, 1]}, beta: 0, samples: 2, reduction: trace, clamp: null}"
    plan = plan_from(HEAD.format("clar", text)).studies[0]
    for chosen in plan.parameters.configurations():
        params = plan.complete(chosen)
        assert (params["samples"], params["reduction"], params["clamp"]) == (2, "trace", None)


def test_what_fixed_weights_leave_idle_is_not_searched():
    text = "{alpha: 1, beta: 0, samples: {choices: [1, 2]}, clamp: {choices: [1, 10]}}"
    plan = plan_from(HEAD.format("clar", text)).studies[0]
    assert [p.name for p in plan.parameters.searched] == ["clamp"]
    assert not plan.parameters.conditional
    condition = HEAD.format("clar", "{samples: {choices: [1, 2]}}").replace(
        "settings", "conditions: [{sweep: {beta: [0, 1]}}]\nsettings"
    )
    assert [s.parameters.count for s in plan_from(condition).studies] == [1, 2]


def test_a_weight_that_cannot_be_zero_leaves_nothing_idle():
    listed = study("clar", {"alpha": [1, 2], "beta": [1, 2], "samples": [1, 2]}).parameters
    assert listed.count == 8 and not listed.conditional
    text = "{beta: {low: 0, high: 1}, samples: {choices: [1, 2]}}"
    continuous = plan_from(HEAD.format("clar", text)).studies[0].parameters
    assert not continuous.conditional and continuous.count is None


def test_an_own_word_stands_where_it_goes_the_other_way():
    text = "{samples: {choices: [1, 2]}, beta: {choices: [0, 1], when: {samples: 2}}}"
    parameters = plan_from(HEAD.format("clar", text)).studies[0].parameters
    assert list(parameters.configurations()) == [
        {"samples": 1},
        {"samples": 2, "beta": 0},
        {"samples": 2, "beta": 1},
    ]
    both = "{beta: {choices: [0, 1]}, reduction: {choices: [trace, node-mean]}, "
    both += "clamp: {choices: [1, null], when: {reduction: trace}}, alpha: 0}"
    parameters = plan_from(HEAD.format("clar", both)).studies[0].parameters
    assert parameters.count == len(list(parameters.configurations())) == 1 + (2 + 1)


def test_nothing_is_idle_in_a_regularizer_of_the_user():
    own = "support.own_classes:OwnPenalty"
    assert own not in IDLE
    weights = Parameter("weight", Choice((0, 1)))
    assert ParameterSet([weights, Parameter("form", Choice((1, 2)))]).count == 4


def test_ways_survive_a_manifest():
    parameters = study("adagraph", VALUES["adagraph"]).parameters
    stored = json.loads(json.dumps(parameters.stored))
    assert ParameterSet.from_stored(stored) == parameters
    assert stored["t_add"]["idle"] == [{"n_add": 0}, {"rounds": 1}]


def test_what_is_idle_beside_a_range_of_whole_numbers_is_counted_too():
    n_add = Parameter("n_add", Range(0, 9, integer=True))
    t_add = Parameter("t_add", Choice((1, 2)), idle=({"n_add": 0},))
    assert ParameterSet([t_add, n_add]).count == 1 + 9 * 2
    assert ParameterSet([t_add, Parameter("n_add", Fixed(0))]).searched == ()


def test_gp_refuses_what_may_be_idle_and_names_it():
    domains = {"alpha": [0, 1], "beta": [0, 1], "samples": [1, 2]}
    with pytest.raises(SpaceError, match="cannot search samples, which does nothing where beta=0"):
        study("clar", domains, sampler="gp", pruning=False)
    assert study("clar", {**domains, "beta": [1, 2]}, sampler="gp", pruning=False)


def test_values_are_checked_though_they_may_be_idle():
    with pytest.raises(SpaceError, match="refuses sampling='egde'"):
        study("clar", {"beta": [0, 1], "sampling": ["node", "egde"]})
