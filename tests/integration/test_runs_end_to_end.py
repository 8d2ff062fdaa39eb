"""Whole runs on a local Ray, as a user sees them."""

import ipaddress
import json
import re
import socket

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from support.commands import ONE, PACED, Place, assert_exact, comparable, copy_of, finished
from support.one_ray import SharedPlace

FINITE = """\
graphs: [csbm-homophily]
methods: [gcn, sage]
protocol: balanced-60-20-20
training: {max_epochs: 5, patience: 5, warmup: 1}
search: {trials: 9, repeats: 2}
finals: 2
settings:
  tuned:
    shared: {hidden: 8}
    backbones: {gcn: {lr: {choices: [0.01, 0.1]}, dropout: {choices: [0, 0.3, 0.6]}}}
"""
"""Six configurations of gcn, and one of sage."""

LATE = """\
graphs: [csbm-homophily]
methods: [gcn, sage]
protocol: balanced-60-20-20
training: {max_epochs: 12, patience: 12, warmup: 1}
search: {trials: 2, repeats: 2, sampler: grid, pruning: false}
finals: 2
settings: {tuned: {shared: {hidden: 8, lr: {choices: [1.0e-9, 2.0e-9, 3.0e-9, 0.1]}}}}
"""
"""One rate is good. With seed 1 the grid visits it at once for gcn, and third for sage."""


@pytest.fixture
def one(tmp_path_factory, shared_ray):
    """A run that had a process and a Ray of its own; further commands share theirs."""
    return SharedPlace(finished(tmp_path_factory.getbasetemp()).folder, shared_ray)


@pytest.fixture
def copied(one, tmp_path, shared_ray):
    return SharedPlace(copy_of(one, tmp_path).folder, shared_ray)


def test_a_run_has_exactly_the_trials_and_finals_asked_for(one):
    assert_exact(one, "one", trials=9, repeats=3, finals=3)
    assert one.store.find("one").row.state == "finished"
    assert {row["state"] for row in one.trials("one")} == {"complete", "pruned"}


def test_only_finals_have_test_scores(one):
    schemas = {
        table: pq.read_schema(part(one, table)).names
        for table in ("runs", "trials", "repeats", "finals")
    }
    assert [table for table, names in schemas.items() if "test_score" in names] == ["finals"]


def test_a_finished_run_leaves_one_file_per_table(one):
    files = [path for path in (one.folder / "store").rglob("*") if path.is_file()]
    assert sorted(files) == sorted(
        part(one, table) for table in ("runs", "trials", "repeats", "finals")
    )


def test_the_comparison_goes_to_stdout_and_progress_to_stderr(one):
    out, err = ((one.folder / f"one.{name}").read_text() for name in ("out", "err"))
    assert re.search(r"csbm-homophily¹ +\d\d\.\d\d", out)
    assert re.search(r"csbm-homophily +gcn\+clar§? +[+-]\d+\.\d\d ± ", out)
    assert "studies confirmed" not in out
    head, *lines = err.splitlines()
    assert head.startswith("run one in store, log in ")
    assert all("studies confirmed" in line for line in lines)
    assert "2/2 studies confirmed, 18/18 trials" in lines[-1]


def test_the_noise_of_libraries_is_in_the_log(one):
    assert one.log("one").strip()
    assert "studies confirmed" not in one.log("one")


def test_a_second_run_with_the_same_seed_has_the_same_numbers_of_its_own(copied):
    done = copied.search("--name", "two", *ONE, "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    printed = json.loads(done.out)
    assert (printed["run"], printed["state"]) == ("two", "finished")
    for rows in (copied.trials, copied.repeats, copied.finals):
        assert comparable(rows("two")) == comparable(rows("one"))
    again = {row["started"] for row in copied.repeats("two")}
    assert again.isdisjoint(row["started"] for row in copied.repeats("one"))


def test_a_run_at_work_listens_on_loopback_alone_and_has_one_driver(tmp_path):
    place = Place(tmp_path, PACED)
    place.pace(600)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(going.workers, "a worker")
        addresses = listening(going.tree())
        refused = place.run("resume", "it")
    assert addresses
    assert [ip for ip in addresses if not ipaddress.ip_address(ip).is_loopback] == []
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("clar-tune: run it has a driver at work: process ")
    assert f" on {socket.gethostname()}, " in refused.err
    assert refused.err.count("\n") == 1


def test_a_name_that_exists_is_refused(one):
    done = one.search("--name", "one")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "clar-tune: run 'one' exists in store. Choose another --name, or `clar-tune resume`.\n"
    )


def test_resume_of_a_finished_run_trains_nothing(copied):
    before = copied.trainings("one")
    done = copied.run("resume", "one")
    assert (done.code, done.err) == (0, "one is finished: nothing is left to do\n")
    assert "gcn+clar" in done.out
    assert copied.trainings("one") == before
    assert copied.store.find("one").row.state == "finished"


@pytest.mark.parametrize("table", ["repeats", "finals"])
def test_a_stored_row_is_trained_again_to_the_last_digit(one, table):
    row = getattr(one, table)("one")[-1]
    done = one.run_alone("repro", row["key"])
    assert done.code == 0, done.err
    assert "differs" not in done.out
    assert done.out.count("equal") == (5 if table == "finals" else 4)


def test_a_stored_number_that_was_altered_is_found_out(copied):
    file = part(copied, "finals")
    rows = pq.read_table(file).to_pylist()
    rows[0]["test_score"] += 1e-9
    pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(file)), file)
    done = copied.run_alone("repro", rows[0]["key"])
    assert done.code == 1
    assert re.search(r"test_score .* differs by 1e-09", done.out)
    assert done.out.count("equal") == 4


def test_extend_adds_what_was_asked_and_confirms_again_where_the_winner_changed(
    tmp_path, shared_ray
):
    place = SharedPlace(tmp_path, shared_ray, LATE)
    assert place.search("--name", "it", "--seed", "1", "--quiet").code == 0
    before, trials = place.trainings("it"), place.trials("it")
    done = place.run("extend", "it", "--trials", "+2", "--finals", "+1", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")

    after = place.trainings("it")
    assert {key: after[key] for key in before} == before
    assert [row for row in place.trials("it") if row["trial"] < 2] == trials
    assert len(place.trials("it")) == 2 * 4
    finals = {(row["method"], row["trial"], row["repeat"]) for row in place.finals("it")}
    former = next(row["trial"] for row in before.values() if is_final(row, "sage"))
    assert finals == {
        *(("gcn", 0, number) for number in range(3)),
        *(("sage", former, number) for number in range(2)),
        *(("sage", 2, number) for number in range(3)),
    }
    found = json.loads(done.out)["comparison"]["scores"]
    scores = {score["method"]: score for score in found}
    for method, trial in (("gcn", 0), ("sage", 2)):
        rows = [row for row in after.values() if is_final(row, method) and row["trial"] == trial]
        budget = scores[method]["budget"]
        assert (budget["finals"], budget["trials"]) == (3, 4)
        assert scores[method]["mean"] == pytest.approx(sum(r["test_score"] for r in rows) / 3)


def is_final(row, method):
    return "test_score" in row and row["method"] == method


@pytest.mark.parametrize("sampler", ["tpe", "grid"])
def test_a_finite_space_that_is_used_up_ends_its_study(tmp_path, sampler, shared_ray):
    place = SharedPlace(tmp_path, shared_ray, FINITE)
    done = place.search("--name", "all", "--sampler", sampler, "--quiet")
    assert (done.code, done.err) == (0, "")
    gcn, sage = place.shown("all")["studies"]
    assert (gcn["trials"], gcn["asked"], gcn["used_up"], gcn["finals"]) == (6, 9, True, 2)
    cells = [row["params"] for row in place.trials("all") if row["method"] == "gcn"]
    assert len(set(cells)) == 6
    assert "6/9 used up" in place.run("show", "all").out
    # Nothing to search: one trial without repeats goes to the finals.
    assert (sage["trials"], sage["asked"], sage["used_up"]) == (1, 1, False)
    assert (sage["complete"], sage["repeats"], sage["finals"]) == (1, 0, 2)
    assert {row["method"] for row in place.repeats("all")} == {"gcn"}


@pytest.mark.parametrize("share", ["0.25", "0.3", "1.5", "-1"])
def test_a_share_of_a_gpu_that_cannot_be_given_is_refused_before_any_work(
    tmp_path, share, shared_ray
):
    if share == "0.25" and torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    place = SharedPlace(tmp_path, shared_ray)
    done = place.search("--gpus-per-trial", share)
    assert done.code == 1
    last = done.err.splitlines()[-1]
    assert last.startswith("clar-tune: ")
    assert f"--gpus-per-trial {share}" in last
    assert "Traceback" not in done.err
    assert not (tmp_path / "store").exists()


def part(place, table):
    return place.folder / "store" / table / "run=one" / "part-00000.parquet"


def listening(processes):
    """The addresses at which processes wait for connections."""
    found = []
    for process in processes:
        try:
            connections = process.net_connections("inet")
        except psutil.NoSuchProcess:
            continue
        ips = [c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN]
        found += [ip.removeprefix("::ffff:") for ip in ips]
    return found
