"""Fair search: known points, a start-up that methods share, the exchange, and equal budgets."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from support.simulation import Memory, plan_from, pretend, scheduler_for, work

from clar_tune.analysis.progress import stored_progress
from clar_tune.analysis.runs import RunView, studies_of
from clar_tune.search.jobs import Failure
from clar_tune.search.manifest import manifest_of
from clar_tune.search.progress import studies_under_way
from clar_tune.space import Plan
from clar_tune.winner import may_win, preference

SPACE = """
description: two backbones with regularizers
graphs: [csbm-homophily]
methods: [gcn, gcn+clar, gcn+nl, sage, sage+clar]
protocol: balanced-60-20-20
search: {trials: 9, repeats: 3, sampler: random}
finals: 2
settings:
  tuned:
    shared:
      hidden: {choices: [8, 16, 32]}
      lr: {low: 0.001, high: 0.1, log: true}
      dropout: {low: 0.0, high: 0.8}
    regularizers:
      clar: {alpha: {choices: [0, 0.1, 1]}, beta: {choices: [0, 0.1, 1]}, reduction: node-mean}
      nl: {alpha: {low: 0.01, high: 3, log: true}}
"""
SHARED = ("hidden", "lr", "dropout", "weight_decay", "layers")
GROUPS = (("gcn", "gcn+clar", "gcn+nl"), ("sage", "sage+clar"))
FINITE = SPACE.replace("{low: 0.001, high: 0.1, log: true}", "{choices: [0.01, 0.1]}").replace(
    "{low: 0.0, high: 0.8}", "{choices: [0, 0.5]}"
)


def ran(text: str = SPACE, train=pretend, workers: int = 1, **options) -> Memory:
    memory = Memory()
    work(scheduler_for(plan_from(text, **options), memory, workers=workers), train)
    return memory


def rows_of(memory: Memory, method: str) -> list:
    return sorted(memory.of("csbm-homophily", method), key=lambda row: row.trial)


def shared(row) -> tuple:
    return tuple(row.params[name] for name in SHARED)


def expected_exchange(memory: Memory, method: str, before: int, count: int) -> list[tuple]:
    """Shared points and sources by the definition: everyone's first, then everyone's second …"""
    group = next(group for group in GROUPS if method in group)
    first = {name: [r for r in rows_of(memory, name) if r.trial < before] for name in group}
    ranked = {
        name: sorted(filter(may_win, rows), key=lambda r: preference(r, r.metric), reverse=True)
        for name, rows in first.items()
    }
    own = (ranked[method] or first[method])[0].params
    tried = [row.params for row in first[method]]
    found: list[tuple] = []
    for turn in range(before):
        for name in sorted(set(group) - {method}):
            if turn < len(ranked[name]) and len(found) < count:
                other = ranked[name][turn]
                params = {**own, **{n: other.params[n] for n in SHARED}}
                if params not in tried:
                    tried.append(params)
                    found.append((params, f"{name}, trial {other.trial}"))
    return found


@pytest.mark.parametrize("sampler", ["tpe", "gp", "random"])
@pytest.mark.parametrize("seed", [0, 1])
def test_start_up_points_of_a_backbone_share_all_but_the_regularizer(sampler, seed):
    memory = ran(sampler=sampler, pruning=sampler != "gp", seed=seed, trials=20)
    for group in GROUPS:
        plain = [shared(row) for row in rows_of(memory, group[0])[:5]]
        assert len(set(plain)) == 5
        for method in group[1:]:
            assert [shared(row) for row in rows_of(memory, method)[:5]] == plain
    assert shared(rows_of(memory, "gcn")[1]) != shared(rows_of(memory, "sage")[1])
    origins = [row.origin for row in rows_of(memory, "gcn+clar")]
    assert origins == ["known"] + ["start-up"] * 4 + ["sampler"] * 10 + ["exchange"] * 5


def test_searches_begin_with_what_papers_use():
    memory = ran()
    for method in ("gcn", "gcn+clar", "gcn+nl", "sage", "sage+clar"):
        params = rows_of(memory, method)[0].params
        assert (params["lr"], params["dropout"], params["weight_decay"]) == (0.01, 0.5, 5e-4)
        assert params["hidden"] == 32
    clar, nl = (rows_of(memory, method)[0].params for method in ("gcn+clar", "gcn+nl"))
    assert (clar["alpha"], clar["beta"], nl["alpha"]) == (1.0, 1.0, 1.0)


def test_known_values_that_a_space_does_not_allow_move_to_the_nearest():
    text = (
        SPACE.replace("low: 0.001, high: 0.1", "low: 0.02, high: 0.1")
        .replace("{low: 0.0, high: 0.8}", "{choices: [0, 0.4, 0.6]}")
        .replace("alpha: {choices: [0, 0.1, 1]}", "alpha: {choices: [0, 3]}")
    )
    params = rows_of(ran(text), "gcn+clar")[0].params
    assert (params["lr"], params["dropout"], params["alpha"]) == (0.02, 0.4, 0.0)


def test_other_ranges_of_a_method_keep_the_places_of_shared_parameters():
    text = SPACE + "    methods: {gcn+clar: {lr: {low: 0.01, high: 1.0, log: true}}}\n"
    memory = ran(text)
    for plain, clar in list(zip(rows_of(memory, "gcn"), rows_of(memory, "gcn+clar"), strict=True))[
        1:4
    ]:
        assert clar.params["lr"] == pytest.approx(10 * plain.params["lr"])
        assert shared(clar)[0] == shared(plain)[0] and shared(clar)[2:] == shared(plain)[2:]


def test_a_grid_has_cells_alone():
    text = FINITE.replace("sampler: random", "sampler: grid, pruning: false").replace(
        "nl: {alpha: {low: 0.01, high: 3, log: true}}", "nl: {alpha: {choices: [0.1, 1]}}"
    )
    memory = ran(text)
    assert {row.origin for row in memory.trials.values()} == {"sampler"}


@pytest.mark.parametrize("sampler", ["tpe", "random"])
@pytest.mark.parametrize("text", [SPACE, FINITE], ids=["continuous", "finite"])
def test_exchanged_points_are_those_of_the_others_in_their_order(sampler, text):
    for seed in range(4):
        memory = ran(text, sampler=sampler, seed=seed, trials=10)
        for method in (name for group in GROUPS for name in group):
            rows = [row for row in rows_of(memory, method) if row.origin == "exchange"]
            expected = expected_exchange(memory, method, before=8, count=2)
            assert [(row.params, row.shared_from) for row in rows] == expected


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    trials=st.integers(8, 14),
    workers=st.integers(1, 4),
    failing=st.floats(0, 0.6),
    finite=st.booleans(),
)
def test_whatever_happens_budgets_are_equal_and_exchanged_points_follow_from_the_rows(
    seed, trials, workers, failing, finite
):
    draw = random.Random(seed)

    def train(job, index):
        if job.purpose == "repeat" and draw.random() < failing:
            return Failure(index=index, kind=draw.choice(["diverged", "error"]), text="no number")
        return pretend(job, index)

    memory, exchanged = Memory(), max(2, trials // 4)
    text = FINITE if finite else SPACE
    scheduler = scheduler_for(plan_from(text, seed=seed, trials=trials), memory, workers=workers)
    work(scheduler, train, order=draw)
    assert not scheduler.live
    for study in scheduler.studies:
        if not study.plan.exchanged:  # its space has fewer configurations than trials
            continue
        rows = rows_of(memory, study.plan.columns.method)
        unfilled = sum(row.unfilled for row in rows)
        assert len(rows) + unfilled == trials and all(row.state != "running" for row in rows)
        own = [row for row in rows if row.origin == "exchange"]
        assert len(own) + unfilled == exchanged == study.plan.exchanged
        assert unfilled == 0 or rows[-1].unfilled == unfilled
        method = study.plan.columns.method
        if all(s.plan.exchanged for s in scheduler.studies if s.plan.group == study.plan.group):
            expected = expected_exchange(memory, method, trials - exchanged, exchanged)
            assert [(row.params, row.shared_from) for row in own] == expected
    identities = Counter((*row.study, str(row.params)) for row in memory.trials.values())
    assert set(identities.values()) == {1}
    keys = Counter(row.key for row in [*memory.repeats, *memory.finals])
    assert set(keys.values()) <= {1}
    pairs = {(row.repeat, row.split_seed, row.init_seed) for row in memory.finals}
    assert len(pairs) <= 2


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_killed_at_any_event_and_resumed_equals_uninterrupted(sampler):
    plan = plan_from(SPACE, sampler=sampler, methods=("gcn", "gcn+clar", "gcn+nl"))
    whole = Memory()
    total = work(scheduler_for(plan, whole))
    for cut in range(0, total, 1 if sampler == "random" else 7):
        memory = Memory()
        work(scheduler_for(plan, memory), events=cut)
        work(scheduler_for(plan, memory))
        assert memory.numbers() == whole.numbers(), f"cut after {cut} events"
        told = [
            {n: (r.origin, r.shared_from, r.unfilled) for n, r in m.trials.items()}
            for m in (memory, whole)
        ]
        assert told[0] == told[1]


@pytest.mark.parametrize("workers", [2, 5])
def test_with_several_workers_the_same_rows_exchange_the_same_points(workers):
    plan = plan_from(SPACE)
    for seed in range(6):
        draw = random.Random(seed)
        memory = Memory()
        total = work(scheduler_for(plan, Memory(), workers=workers))
        for _ in range(2):
            scheduler = scheduler_for(plan, memory, workers=workers)
            work(scheduler, events=draw.randrange(total), order=draw)
        scheduler = scheduler_for(plan, memory, workers=workers)
        work(scheduler, order=draw)
        assert scheduler.state == "finished"
        for method in (name for group in GROUPS for name in group):
            rows = rows_of(memory, method)
            own = [(row.params, row.shared_from) for row in rows if row.origin == "exchange"]
            expected = expected_exchange(memory, method, before=7, count=2)
            assert len(rows) == 9 and sorted(map(str, own)) == sorted(map(str, expected))


def test_a_study_whose_trials_all_failed_holds_nobody_up():
    def train(job, index):
        if job.spec.method == "gcn+nl" and job.purpose == "repeat":
            return Failure(index=index, kind="error", text="broken")
        return pretend(job, index)

    memory = ran(train=train)
    for method in ("gcn", "gcn+clar", "gcn+nl"):
        assert len(rows_of(memory, method)) == 9
    sources = {row.shared_from.partition(",")[0] for row in rows_of(memory, "gcn")[7:]}
    assert sources == {"gcn+clar"}


def test_workers_go_on_with_another_backbone_while_one_waits():
    """A trial of gcn that lasts and lasts: sage does all of its own meanwhile."""
    memory, plan = Memory(), plan_from(SPACE, methods=("gcn", "gcn+nl", "sage", "sage+clar"))
    scheduler = scheduler_for(plan, memory, workers=2)
    held = None
    for ticket in map(str, range(100_000)):
        given_out = scheduler.assign(ticket)
        if given_out is None:
            break
        for place, job in enumerate(given_out.jobs):
            if job.spec.method == "gcn" and job.purpose == "repeat" and held is None:
                held = ticket, place, job
                continue
            index = job.first
            while index < job.last:
                scheduler.receive(ticket, [(place, pretend(job, index))])
                index += 1
    assert held is not None
    assert [row.state for row in rows_of(memory, "gcn")].count("running") == 1
    assert len(rows_of(memory, "gcn+nl")) == 7  # they wait
    assert len(rows_of(memory, "sage")) == len(rows_of(memory, "sage+clar")) == 9
    ticket, place, job = held
    for index in range(job.first, job.last):
        scheduler.receive(ticket, [(place, pretend(job, index))])
    work(scheduler)
    assert scheduler.state == "finished" and len(rows_of(memory, "gcn+nl")) == 9


def test_a_time_budget_that_ends_while_studies_wait_pauses_the_run():
    clock = [0.0]

    def train(job, index):
        clock[0] += 1.0
        return pretend(job, index)

    for deadline in range(5, 90, 7):
        clock[0] = 0.0
        memory = Memory()
        scheduler = scheduler_for(
            plan_from(SPACE), memory, deadline=float(deadline), now=lambda: clock[0]
        )
        work(scheduler, train)
        assert scheduler.state == "paused" and not scheduler.live
        rest = scheduler_for(plan_from(SPACE), memory)
        work(rest)
        assert rest.state == "finished"


def test_extending_exchanges_nothing_again():
    memory = ran()
    before = {name: row for name, row in memory.trials.items()}
    scheduler = scheduler_for(plan_from(SPACE, trials=15, first_trials=9), memory)
    work(scheduler)
    assert scheduler.state == "finished"
    for method in (name for group in GROUPS for name in group):
        origins = [row.origin for row in rows_of(memory, method)]
        assert origins[7:] == ["exchange"] * 2 + ["sampler"] * 6
    assert all(memory.trials[name].params == row.params for name, row in before.items())


SHORT = """
description: ten plain configurations, of which nine are asked for
graphs: [csbm-homophily]
methods: [gcn, gcn+nl]
protocol: balanced-60-20-20
search: {trials: 9, repeats: 1, sampler: random, pruning: false}
finals: 1
settings:
  tuned:
    shared: {lr: {choices: [0.001, 0.003, 0.01, 0.03, 0.1]}, dropout: {choices: [0, 0.5]}}
    regularizers: {nl: {alpha: {low: 0.01, high: 3, log: true}}}
"""


def test_trials_without_a_point_are_not_asked_and_the_rows_say_so():
    """Both tried nearly all ten shared points: what is left to exchange is no other."""
    short = 0
    for seed in range(12):
        plan, memory = plan_from(SHORT, seed=seed), Memory()
        scheduler = scheduler_for(plan, memory)
        work(scheduler)
        assert scheduler.state == "finished"
        rows = rows_of(memory, "gcn")
        missing = 9 - len(rows)
        short += missing > 0
        assert sum(row.unfilled for row in rows) == missing
        if missing:
            assert rows[-1].remarks == [
                f"the exchange had no other point: {missing} trials fewer than asked for"
            ]
        row = manifest_of(plan, {})
        views = studies_of(row, memory.trials.values(), memory.finals, memory.scores())
        stored = stored_progress(RunView("it", row, tuple(views))).studies
        assert stored == studies_under_way(scheduler)
        assert not Counter(str(row.params) for row in rows).most_common(1)[0][1] > 1
        larger = plan_from(SHORT, seed=seed, trials=10, first_trials=9)
        if missing:
            again = scheduler_for(larger, memory)
            work(again)
            assert again.state == "finished" and len(rows_of(memory, "gcn")) == len(rows) + 1
            assert rows_of(memory, "gcn")[-1].origin == "sampler"
    assert short


@pytest.mark.parametrize("options", [{"trials": 7}, {"methods": ("gcn+clar", "gcn+nl")}])
def test_short_searches_and_those_without_a_plain_study_exchange_nothing(options):
    memory = ran(**options)
    assert "exchange" not in {row.origin for row in memory.trials.values()}


@pytest.mark.parametrize("workers", [1, 3])
def test_the_store_tells_how_far_an_exchange_is_at_every_cut(workers):
    plan: Plan = plan_from(SPACE, methods=("gcn", "gcn+clar"))
    row, draw = manifest_of(plan, {}), random.Random(workers)
    total = work(scheduler_for(plan, Memory(), workers=workers))
    for cut in range(0, total, 2):
        memory = Memory()
        work(scheduler_for(plan, memory, workers=workers), events=cut, order=draw)
        scheduler = scheduler_for(plan, memory)
        views = studies_of(row, memory.trials.values(), memory.finals, memory.scores())
        told = {s.method: s for s in stored_progress(RunView("it", row, tuple(views))).studies}
        for study in studies_under_way(scheduler):
            assert told[study.method] == study, f"cut after {cut} events"


def test_a_lost_row_is_asked_again_and_the_exchange_still_ends():
    memory = ran()
    for trial in (2, 7):
        copy = Memory(dict(memory.trials), list(memory.repeats), list(memory.finals))
        name = ("csbm-homophily", "gcn+nl", "", 0, trial)
        gone = copy.trials.pop(name)
        copy.repeats = [r for r in copy.repeats if (*r.study, r.trial) != name]
        scheduler = scheduler_for(plan_from(SPACE), copy)
        work(scheduler)
        assert scheduler.state == "finished"
        assert copy.trials[name].origin == gone.origin
        assert replace(copy.trials[name], state="x") != gone
