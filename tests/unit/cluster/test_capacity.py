"""How many jobs may be out, as machines come and go."""

import pytest
from support.simulation import hashes_of, next_job, plan_from

from clar_tune.cluster import capacity as module
from clar_tune.cluster.asha import Asha
from clar_tune.cluster.capacity import PATIENCE, Capacity, Growth
from clar_tune.cluster.resources import GIB, Node, Resources
from clar_tune.errors import ClusterError
from clar_tune.search.limits import Limits
from clar_tune.search.scheduler import Scheduler

A, B = "csbm-homophily", "csbm-heterophily"


def most(capacity, graph=A):
    """How many jobs on a graph go out, one after the other."""
    out = []
    while capacity.has_room(out):
        out.append(graph)
        assert len(out) < 1000
    return len(out)


def test_machines_of_several_sizes_are_filled_and_a_head_without_processors_gets_nothing():
    nodes = [Node(0, 0, head=True), Node(2, 0), Node(7, 0), Node(1, 4)]
    assert most(Capacity(nodes, Resources(2))) == 1 + 3
    assert most(Capacity(nodes, Resources(0.5))) == 20
    assert Capacity(nodes, Resources(2)).workers() == 4


@pytest.mark.parametrize("slots", [1, 2, 3, 7, 10, 49, 97, 300])
def test_as_many_jobs_as_slots_go_out_and_no_more(slots):
    assert most(Capacity([Node(slots, 0)], Resources())) == slots


def test_a_limit_is_kept_whatever_the_cluster():
    growth = Growth(((Node(8, 0), 4),), most=4)
    one = Capacity([Node(16, 0)], Resources(), limit=1, growth=growth)
    assert most(one) == one.workers() == 1
    assert most(Capacity([Node(16, 0)], Resources(), limit=99)) == 16


def test_memory_counts_where_it_is_short():
    nodes = [Node(8, 0, 4 * GIB), Node(8, 0, 64 * GIB)]
    capacity = Capacity(nodes, Resources(), {A: GIB, B: 3 * GIB})
    assert most(capacity, A) == 4 + 8
    assert most(capacity, B) == 1 + 8
    assert capacity.asked(B).request == {"CPU": 1.0, "memory": 3 * GIB}
    assert capacity.workers([A, B]) == 9
    # Jobs of two sizes share: half the places of each.
    assert capacity.has_room([A] * 6 + [B] * 4)
    assert not capacity.has_room([A] * 6 + [B] * 5)


def test_machines_that_come_and_go_change_the_number_of_jobs():
    capacity = Capacity([Node(2, 0)], Resources())
    capacity.update([Node(2, 0), Node(4, 0)], [A])
    assert (most(capacity), capacity.workers([A])) == (6, 6)
    capacity.update([Node(1, 0)], [A])
    assert (most(capacity), capacity.workers([A])) == (1, 1)


def test_what_no_machine_could_ever_hold_is_refused_with_all_sizes():
    nodes = [Node(4, 0, 8 * GIB), Node(2, 1, 16 * GIB)]
    with pytest.raises(ClusterError) as refused:
        Capacity(nodes, Resources(8))
    assert str(refused.value) == (
        "a trial with --cpus-per-trial 8 and --gpus-per-trial 0 fits on no machine of the cluster "
        "(4 CPUs, 0 GPUs and 8.0 GiB; 2 CPUs, 1 GPUs and 16.0 GiB). Ask for less, or for larger "
        "machines."
    )
    with pytest.raises(ClusterError, match=f"trial on {B} .* and 20.0 GiB of memory fits on no"):
        Capacity(nodes, Resources(), {A: GIB, B: 20 * GIB})
    with pytest.raises(ClusterError, match="none is alive"):
        Capacity([], Resources())


def test_a_head_without_workers_waits_for_them():
    head = Node(0, 0, 8 * GIB, head=True)
    capacity = Capacity([head], Resources(), {A: GIB})
    assert (most(capacity), capacity.workers()) == (1, 0)
    capacity.update([head, Node(4, 0, 8 * GIB)], [A])
    assert (most(capacity), capacity.workers([A])) == (4, 4)


def test_nobody_waits_while_one_of_the_graphs_fits():
    capacity = Capacity([Node(4, 0, 8 * GIB)], Resources(), {A: GIB, B: 4 * GIB})
    capacity.update([Node(4, 0, 2 * GIB)], [A, B])
    assert capacity.waits_since is None
    capacity.update([Node(4, 0, 2 * GIB)], [B])
    assert capacity.waits_since is not None


def test_an_autoscaler_is_shown_as_many_jobs_as_it_could_serve():
    growth = Growth(((Node(4, 0, 8 * GIB), 3), (Node(16, 2, 64 * GIB), 2)), most=4)
    head = Node(0, 0, 8 * GIB, head=True)
    capacity = Capacity([head], Resources(), {A: GIB}, growth=growth)
    assert most(capacity) == 2 * 16 + 2 * 4  # four machines at most, the largest first
    assert capacity.workers() == 0
    # Those that are there are among them.
    capacity.update([head, Node(16, 2, 64 * GIB)], [A])
    assert most(capacity) == 40
    assert capacity.workers([A]) == 16
    with pytest.raises(ClusterError, match=r"its autoscaler may add: 3 × 4 CPUs, .*; 2 × 16 CPUs"):
        Capacity([head], Resources(32), growth=growth)


def test_no_memory_is_asked_for_where_the_autoscaler_does_not_know_it():
    growth = Growth(((Node(4, 0, name="small"), 3), (Node(4, 0, GIB), 3)), most=3)
    capacity = Capacity([], Resources(), {A: GIB}, growth=growth)
    assert capacity.asked(A).request == {"CPU": 1.0}
    assert capacity.unmeasured == ["small"]


def test_a_run_without_machines_waits_for_some_time_and_says_why_it_ends():
    clock = [0.0]
    capacity = Capacity([Node(1, 0, GIB)], Resources(), {A: GIB}, now=lambda: clock[0])
    capacity.update([Node(0, 0, GIB)], [A])
    assert capacity.has_room([])  # one job shows what is wanted
    assert not capacity.has_room([A])
    clock[0] = PATIENCE - 1
    capacity.update([], [A])
    capacity.update([Node(1, 0, GIB)], [A])
    assert capacity.waits_since is None
    capacity.update([Node(0, 0, GIB)], [A])
    clock[0] += PATIENCE + 1
    with pytest.raises(ClusterError, match=r"for 15 minutes .* 0 CPUs, 0 GPUs .*clar-tune resume"):
        capacity.update([Node(0, 0, GIB)], [A])


def test_a_run_whose_autoscaler_may_add_machines_waits_as_long_as_it_takes(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", -1.0)
    growth = Growth(((Node(1, 0, GIB), 1),), most=1)
    capacity = Capacity([], Resources(), {A: GIB}, growth=growth)
    for _ in range(3):
        capacity.update([], [A])
    assert capacity.waits_since is not None


def test_machines_that_break_workers_are_not_counted_on_as_long_as_they_are_there():
    head, bad, good = (
        Node(n, 0, GIB, name, id=name) for n, name in ((0, "h"), (2, "b"), (3, "g"))
    )
    capacity = Capacity([head, bad, good], Resources(), {A: GIB // 8})
    assert capacity.able(A) == {"b", "g"}
    capacity.leave_out({"b": "CUDA error"})
    assert (most(capacity), capacity.workers([A]), capacity.able(A)) == (3, 3, {"g"})
    capacity.update([head, bad, good], [A])
    assert capacity.workers([A]) == 3


def test_a_run_ends_once_every_machine_that_could_hold_a_trial_is_left_out():
    nodes = [Node(0, 0, GIB, "head", id="h"), Node(2, 0, GIB, "first", id="1")]
    capacity = Capacity([*nodes, Node(2, 0, GIB, "second", id="2")], Resources(), {A: GIB // 8})
    capacity.leave_out({"1": "CUDA error"})
    with pytest.raises(ClusterError) as ended:
        capacity.leave_out({"1": "CUDA error", "2": "no room on the disk"})
    assert str(ended.value) == (
        "every machine is left out, as workers were lost there one after the other (second: no "
        "room on the disk). Mend them, with `clar-tune doctor`, or the model that breaks them, "
        "and go on with `clar-tune resume`."
    )


def scheduler_of(**given):
    rows = []
    plan = plan_from()
    return Scheduler(plan, hashes_of(plan), rows.extend, Asha, Limits(**given)), rows


def test_jobs_that_wait_for_a_machine_are_taken_back_once_nothing_new_may_start():
    scheduler, rows = scheduler_of()
    assert next_job(scheduler, "begun") is not None
    assert next_job(scheduler, "waiting") is not None
    scheduler.started("begun")
    assert not scheduler.recall()
    assert len(scheduler.live) == 2
    scheduler.limits.draining = True
    assert not scheduler.recall()
    assert list(scheduler.live) == ["begun"]
    before = len(rows)
    assert scheduler.receive("waiting", []) is False  # it began just then
    assert len(rows) == before
    scheduler.lose("begun", "gone")
    assert scheduler.recall()
    assert scheduler.state == "interrupted"


def test_a_job_that_waited_longer_than_a_trial_may_take_is_lost_not_out_of_time():
    clock = [0.0]
    scheduler, rows = scheduler_of(now=lambda: clock[0])
    job = next_job(scheduler, "waiting")
    clock[0] = job.timeout + 1
    scheduler.lose("waiting", "its machine went before it began")
    assert (rows[-1].retries, rows[-1].failure) == (1, None)
    (note,) = rows[-1].notes
    assert note.endswith("worker lost (its machine went before it began)")
    assert next_job(scheduler, "again") == job
