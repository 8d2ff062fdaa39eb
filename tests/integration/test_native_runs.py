"""Runs whose trainings are compiled programs, on a local Ray."""

import json
from collections.abc import Iterator

import pytest
from support.commands import ONE, Place, assert_exact, comparable, copy_of

NATIVE = ("--engine", "native", *ONE)
COMPILING = "compiling gcn for this machine, which is done once"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Iterator[Place]:
    """A run ``one`` by the native engine, whose programs were not compiled before."""
    place = Place(tmp_path_factory.mktemp("native"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(place.folder / "compiled"))
        done = place.search("--name", "one", *NATIVE)
        assert done.code == 0, done.err
        assert done.err.count(COMPILING) == 1
        yield place


def test_a_run_is_trained_natively_and_says_so(place):
    assert_exact(place, "one", trials=9, repeats=3, finals=3)
    rows = place.trainings("one").values()
    assert {row["engine"] for row in rows} == {"native"}
    (cpu,) = {row["cpu"] for row in rows}
    assert cpu
    manifest = place.store.find("one").row
    assert {study.engine for study in manifest.planned} == {"native"}
    assert manifest.versions["numba"][0].isdigit()
    finals = place.finals("one")
    assert all(0 <= row["test_score"] <= 1 and row["correct"] for row in finals)
    penalised = [row for row in finals if row["regularizer"] == "clar"]
    assert {row["arm"] for row in penalised} >= {"on", "off"}
    for row in penalised:
        assert (row["penalty_active"] is None) == (row["arm"] == "off")


def test_a_stored_training_is_done_again_to_the_last_digit(place):
    for row in (place.repeats("one")[0], place.finals("one")[-1]):
        done = place.run("repro", row["key"], "--json")
        assert done.code == 0, done.err
        again = json.loads(done.out)
        assert again["stored"] == again["here"] and again["here"]["cpu"] == row["cpu"]
        assert all(n["stored"] == n["again"] for n in again["numbers"].values())


def test_two_processors_of_a_trial_change_no_digit(place, tmp_path):
    copy = copy_of(place, tmp_path)
    done = copy.search("--name", "two", "--cpus-per-trial", "2", *NATIVE)
    assert done.code == 0, done.err
    assert {row["threads"] for row in copy.trainings("two").values()} == {2}
    for rows in (copy.repeats, copy.finals):
        one, two = (
            [{**row, "key": "", "threads": 0} for row in comparable(rows(run))]
            for run in ("one", "two")
        )
        assert one == two


def test_torch_gives_other_rows_of_the_same_studies(place):
    done = place.search("--name", "other", "--engine", "torch", *ONE)
    assert (done.code, COMPILING in done.err) == (0, False), done.err
    natives, others = place.trainings("one"), place.trainings("other")
    assert not natives.keys() & others.keys()
    assert {row["engine"] for row in others.values()} == {"torch"}
    assert {row["cpu"] for row in others.values()} == {None}
    seeds = [
        {(row["split_seed"], row["init_seed"]) for row in place.finals(run)}
        for run in ("one", "other")
    ]
    assert seeds[0] == seeds[1]


def test_a_run_that_was_killed_and_resumed_equals_the_uninterrupted_one(place, tmp_path):
    copy = copy_of(place, tmp_path)
    with copy.started("run", "--space", "space.yaml", "--name", "it", *NATIVE) as going:
        going.wait_for(lambda: len(copy.repeats("it")) >= 12, "twelve repeats")
        stored = copy.trainings("it")
        assert going.kill() == []
    done = copy.run("resume", "it", "--max-concurrent", "1")
    assert done.code == 0, done.err
    assert COMPILING not in done.err
    after = copy.trainings("it")
    assert {key: after[key] for key in stored} == stored
    for rows in (copy.trials, copy.repeats, copy.finals):
        assert comparable(rows("it")) == comparable(rows("one"))


def test_more_trials_are_trained_by_the_engine_that_the_run_began_with(place, tmp_path):
    copy = copy_of(place, tmp_path)
    done = copy.run("extend", "one", "--finals", "+1", "--quiet")
    assert done.code == 0, done.err
    assert {row["engine"] for row in copy.finals("one")} == {"native"}
    assert {study.engine for study in copy.store.find("one").row.planned} == {"native"}


def test_numbers_do_not_depend_on_where_programs_are_kept(place, tmp_path, monkeypatch):
    train = ("train", "--graph", "csbm-heterophily", "--method", "gcn+clar", "--json")
    train += ("--set", "reduction=released", "--max-epochs", "20")
    kept = place.run(*train)
    assert kept.code == 0, kept.err
    others = tmp_path / "compiled/clar-tune"
    others.mkdir(parents=True)
    others.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    anew = place.run(*train)
    assert anew.code == 0, anew.err
    assert anew.err.count("cannot be written to, or others can: gcn is compiled anew") == 1
    assert list(others.iterdir()) == []
    one, other = ({**json.loads(done.out), "seconds": 0} for done in (kept, anew))
    assert one == other


GCN = """\
graphs: [csbm-homophily]
methods: [gcn]
protocol: balanced-60-20-20
training: {max_epochs: 12, patience: 12, warmup: 1, engine: native}
search: {trials: 2, repeats: 1, sampler: grid, pruning: false}
finals: 1
settings: {tuned: {shared: {hidden: 8, lr: {choices: [0.01, 0.1]}}}}
"""


def test_a_training_without_end_stops_at_the_time_limit(place, tmp_path):
    copy = copy_of(place, tmp_path)
    (copy.folder / "space.yaml").write_text(GCN.replace(": 12", ": 100000000"))
    done = copy.search("--name", "it", "--trials", "1", "--trial-timeout", "2s", "--quiet")
    assert done.code == 3, done.err
    (row,) = copy.trials("it")
    assert (row["state"], row["failure"], row["retries"]) == ("failed", "time", 0)


def test_a_rate_that_explodes_is_a_failed_trial(place, tmp_path):
    copy = copy_of(place, tmp_path)
    (copy.folder / "space.yaml").write_text(GCN.replace("0.01,", "1.0e+30,"))
    done = copy.search("--name", "it", "--quiet")
    assert done.code == 0, done.err
    (failed,) = [row for row in copy.trials("it") if row["state"] == "failed"]
    assert failed["failure"] == "diverged" and "loss became" in failed["error"]
    assert {row["engine"] for row in copy.trainings("it").values()} == {"native"}


def test_what_the_engine_cannot_train_is_planned_for_torch_and_said(place, tmp_path):
    copy = copy_of(place, tmp_path)
    (copy.folder / "space.yaml").write_text(GCN.replace("[gcn]", "[gcn, gcn+adagraph]"))
    done = copy.search("--name", "it", "--trials", "1")
    assert done.code == 0, done.err
    assert "torch trains gcn+adagraph, not the native engine: regularizer adagraph" in done.err
    engines = {row["method"]: row["engine"] for row in copy.finals("it")}
    assert engines == {"gcn": "native", "gcn+adagraph": "torch"}
