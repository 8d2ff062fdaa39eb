"""Runs on a cluster whose machines come and go; machines are processes, each in its own folder.

The head runs no trials, and the user's package travels to those that do.
"""

import os
import signal

from support.commands import assert_exact
from support.paced_package import SPACE, set_pace, workers, write_package
from support.ray_nodes import Member, ray_cluster

PATIENCE = "import clar_tune.cluster.capacity as c; c.PATIENCE = 5.0\n"


def nodes(notes):
    return {worker["node"] for worker in workers(notes)}


def at_work(place):
    return [row for row in place.trials("it") if row["state"] == "running"]


def test_machines_that_join_are_used_and_those_lost_cost_retries_and_nothing_else(tmp_path):
    notes = tmp_path / "notes"
    with ray_cluster(tmp_path / "cluster") as cluster:
        place = Member(tmp_path / "place", SPACE, cluster)
        write_package(place.folder, notes, 0.1)
        cluster.start_head("--num-cpus=0")
        cluster.start_worker("first", num_cpus=1)
        words = ("run", "--space", "space.yaml", "--name", "it", "--address", cluster.address)
        with place.started(*words) as going:
            going.wait_for(lambda: place.repeats("it"), "a repeat")
            set_pace(notes, 600)
            assert len(nodes(notes)) == 1
            assert len(at_work(place)) <= 1
            known = nodes(notes)
            # From now on only what travelled is there to be imported.
            (place.folder / "own_package").rename(tmp_path / "gone")
            cluster.start_worker("second", num_cpus=2)
            going.wait_for(lambda: len(workers(notes)) == 3, "trials on the machine that joined")
            assert len(nodes(notes)) == 2
            going.wait_for(lambda: len(at_work(place)) == 3, "three trials at once")
            stored = place.trainings("it")
            cluster.kill("first")
            going.wait_for(lambda: sum(row["retries"] for row in place.trials("it")), "the retry")
            set_pace(notes, 0.0)
            done = going.end()
    assert done.code == 0, done.err
    assert_exact(place, "it", trials=8, repeats=3, finals=3)
    assert {row["state"] for row in place.trials("it")} == {"complete"}
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    copies = {worker["file"] for worker in workers(notes) if worker["node"] not in known}
    assert copies
    assert not [file for file in copies if str(tmp_path) in file]


def test_others_do_not_wait_for_a_slow_machine_and_one_about_to_be_taken_away_costs_no_trial(
    tmp_path,
):
    notes = tmp_path / "notes"
    with ray_cluster(tmp_path / "cluster") as cluster:
        place = Member(tmp_path / "place", SPACE, cluster)
        write_package(place.folder, notes, 0.1)
        cluster.start_head("--num-cpus=0")
        cluster.start_worker("spot", num_cpus=1)
        address = ("--address", cluster.address)
        with place.started("run", "--space", "space.yaml", "--name", "it", *address) as going:
            going.wait_for(lambda: place.repeats("it"), "a repeat")
            (spot,) = workers(notes)
            os.kill(spot["pid"], signal.SIGSTOP)  # as slow as can be
            begun = len(place.repeats("it"))
            cluster.start_worker("steady", num_cpus=1)
            going.wait_for(lambda: len(place.repeats("it")) > begun + 3, "repeats elsewhere")
            assert len(nodes(notes)) == 2
            set_pace(notes, 600)  # nothing that is under way can end any more
            os.kill(spot["pid"], signal.SIGCONT)
            cluster.announce_loss_of(spot["node"], seconds=5)
            cluster.kill("spot")
            going.wait_for(lambda: sum(row["retries"] for row in place.trials("it")), "the retry")
            set_pace(notes, 0.0)
            done = going.end()
    assert done.code == 0, done.err
    assert_exact(place, "it", trials=8, repeats=3, finals=3)
    assert {row["state"] for row in place.trials("it")} == {"complete"}
    assert sum(row["retries"] for row in place.trials("it")) == 1


def test_a_run_whose_machines_are_all_lost_waits_says_so_and_is_resumed(tmp_path):
    notes = tmp_path / "notes"
    with ray_cluster(tmp_path / "cluster") as cluster:
        place = Member(tmp_path / "place", SPACE, cluster)
        write_package(place.folder, notes, 0.1)
        # A module that the driver imports, and with it all that follows.
        helpers = place.folder / "own_package" / "__init__.py"
        helpers.write_text(PATIENCE)
        cluster.start_head("--num-cpus=0")
        cluster.start_worker("only", num_cpus=1)
        address = ("--address", cluster.address)
        with place.started("run", "--space", "space.yaml", "--name", "it", *address) as going:
            going.wait_for(lambda: place.repeats("it"), "a repeat")
            set_pace(notes, 600)
            cluster.kill("only")
            lost = going.end()
        stored = place.trainings("it")
        state = place.store.find("it").row.state
        helpers.write_text("")
        set_pace(notes, 0.0)
        cluster.start_worker("other", num_cpus=2)
        resumed = place.run("resume", "it", "--quiet", *address)
    assert (lost.code, state) == (1, "interrupted")
    assert "waiting for machines" in lost.err
    assert "no machine was there for a trial with --cpus-per-trial 1" in lost.err
    assert lost.err.splitlines()[-1].endswith("and go on with `clar-tune resume`.")
    assert (resumed.code, resumed.err) == (0, "")
    assert_exact(place, "it", trials=8, repeats=3, finals=3)
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
