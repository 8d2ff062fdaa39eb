"""A winner is taken along: printed whole, and trained again by its run's settings."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from support.trained_runs import SPACE, run_in

from clar_tune.cli import main
from clar_tune.records import ENGINES
from clar_tune.version import NUMBERS_VERSION

CLAR = ("--method", "gcn+clar", "--condition", "drop_edges=0.3")


@pytest.fixture(scope="module", params=ENGINES)
def run(request, tmp_path_factory):
    """A store with a run whose trainings are real."""
    return run_in(tmp_path_factory.mktemp("store"), engine=request.param)


def done(store, *words: str):
    return CliRunner().invoke(main, [*words, "--store", store.url])


def finals_of(store, method: str, condition: str):
    rows = [f for f in store.finals("small") if (f.method, f.condition) == (method, condition)]
    return sorted(rows, key=lambda final: final.repeat)


def winner(store, *words: str):
    printed = done(store, "best", *CLAR, "--json", *words)
    assert printed.exit_code == 0, printed.output
    return json.loads(printed.stdout)


def test_all_that_trains_the_winner_is_printed_as_json(run):
    found, finals = winner(run), finals_of(run, *CLAR[1::2])
    assert found["params"] == finals[0].params and found["trial"] == finals[0].trial
    assert found["pairs"] == [
        {
            "number": final.repeat,
            "split_seed": final.split_seed,
            "init_seed": final.init_seed,
            "val_score": final.val_score,
            "test_score": final.test_score,
        }
        for final in finals
    ]
    assert (found["protocol"], found["condition"]) == ("random-60-20-20", "drop_edges=0.3")
    rules = ("max_epochs", "patience", "warmup", "select", "stop", "engine", "preprocessing")
    assert [found[name] for name in rules] == [
        *(9, 9, 1, "accuracy", "patience", finals[0].engine, "undirected"),
    ]
    printed = done(run, "best", *CLAR).stdout
    assert f"lr: {found['params']['lr']}" in printed and "# gcn+clar on csbm-homophily" in printed


def trained(store, *words: str):
    told = done(store, "train", *words, "--json")
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)


def test_a_winner_is_trained_again_to_the_last_digit(run, tmp_path):
    (tmp_path / "winner.json").write_text(json.dumps(winner(run)))
    for source, named in (("small", CLAR), (str(tmp_path / "winner.json"), ())):
        for final in finals_of(run, *CLAR[1::2]):
            index = ("--index", str(final.repeat)) if final.repeat else ()
            again = trained(run, "--from", source, *named, *index, "--test")
            assert again["key"] == final.key
            assert again["val_loss"] == final.val_loss
            assert again["test_score"] == final.test_score


def test_what_is_typed_beside_a_run_changes_it(run):
    usual = trained(run, "--from", "latest", *CLAR)
    other = trained(
        run, "--from", "latest", *CLAR, "--set", "alpha=0", "--max-epochs", "4", "--seed", "5"
    )
    assert other["params"] == {**usual["params"], "alpha": 0.0}
    assert other["epochs"] <= 4 and other["patience"] == usual["patience"] == 9
    assert other["split_seed"] != usual["split_seed"]
    typed = trained(run, "--from", "latest", *CLAR, "--max-epochs", "1000", "--patience", "2")
    assert typed["max_epochs"] == 1000, "a default that is typed counts"


def test_a_training_of_a_run_is_kept(run, tmp_path):
    done(run, "train", "--from", "small", *CLAR, "--out", str(tmp_path / "kept"))
    final = finals_of(run, *CLAR[1::2])[0]
    curve = pq.read_table(tmp_path / "kept" / "curve.parquet").to_pydict()
    assert min(curve["val_loss"]) <= final.val_loss and len(curve["epoch"]) == final.epochs
    assert curve["val_loss"][final.best_epoch - 1] == final.val_loss
    again = trained(run, "--from", str(tmp_path / "kept" / "configuration.json"), "--test")
    assert again["key"] == final.key and again["test_score"] == final.test_score


def refused(store, *words: str) -> str:
    told = done(store, "train", "--from", *words)
    assert told.exit_code in (1, 2) and told.stdout == "", told.output
    return told.stderr


def test_mistakes_are_told_before_anything_is_trained(run, tmp_path):
    (tmp_path / "winner.json").write_text(json.dumps(winner(run)))
    file = str(tmp_path / "winner.json")
    assert "which winner of small? --method: gcn, gcn+clar" in refused(run, "small")
    assert "unknown winner in small 'sage'" in refused(run, "small", "--method", "sage")
    assert f"--method gcn: {file} has gcn+clar. Leave" in refused(run, file, "--method", "gcn")
    assert "--out: --spectrum trains several" in refused(
        run, file, "--out", str(tmp_path / "new"), "--spectrum"
    )
    assert "winner.json: this is a file" in refused(run, file, "--out", file)
    (tmp_path / "curve.parquet").write_text("mine")
    assert "of another training" in refused(run, file, "--out", str(tmp_path))
    assert Path(file).exists() and len(list(tmp_path.iterdir())) == 2


def test_numbers_of_another_version_are_announced(run, tmp_path):
    for numbers, words in ((3, "its numbers are of version 3, this"), (NUMBERS_VERSION, "")):
        file = tmp_path / f"of-{numbers}.json"
        file.write_text(json.dumps({**winner(run), "numbers": numbers}))
        told = done(run, "train", "--from", str(file))
        assert told.exit_code == 0
        assert ("scores will differ" in told.stderr) == bool(words) and words in told.stderr


def test_what_no_script_is_written_for_leaves_no_file(run, tmp_path):
    file = tmp_path / "winner.py"
    words = ("best", "--method", "gcn+clar", "--script", str(file))
    told = done(run, *words, "--condition", "drop_edges=0")
    assert told.exit_code == 1 and "drop_edges changes the graph" in told.stderr
    assert not file.exists()


def test_each_search_draws_its_own_pairs(tmp_path):
    """The winner of the search that validates best comes with the seed of that search."""
    alone = SPACE.replace("gcn, gcn+clar", "gcn").replace("[0, 0.3]", "[0.3]")
    store = run_in(tmp_path, alone, replicates=2, engine="torch")
    found = json.loads(done(store, "best", "--json").stdout)
    rows = {final.init_seed: final for final in store.finals("small")}
    again = trained(store, "--from", "small", "--test")
    final = rows[again["init_seed"]]
    assert found["pairs"][0]["init_seed"] == final.init_seed
    assert (again["key"], again["test_score"]) == (final.key, final.test_score)
