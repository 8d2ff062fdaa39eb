import json

import pytest
from click.testing import CliRunner, Result

from clar_tune.cli import main
from clar_tune.graphs import spectrum as spectra
from clar_tune.training import frequencies

QUICK = ["--graph", "csbm-homophily", "--max-epochs", "5"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(spectra.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path))


def train(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["train", *arguments])
    assert result.exit_code == 0, result.output
    return result


def spectrum(*arguments: str) -> Result:
    return train(*QUICK, "--spectrum", *arguments)


def test_json_holds_every_number():
    result = spectrum("--method", "gcn+clar", "--splits", "2", "--json")
    shown = json.loads(result.stdout)
    assert shown["graph"] == "csbm-homophily"
    assert len(shown["bands"]) == len(shown["eigenvalues"]) == 11
    assert [one["label"] for one in shown["contenders"]] == [
        *("gcn", "gcn+clar", "gcn+clar sampling=any")
    ]
    seeds = set()
    for arm in shown["contenders"]:
        trainings = arm["trainings"]
        seeds.add(tuple((one["split_seed"], one["init_seed"]) for one in trainings))
        assert len({one["split_seed"] for one in trainings}) == 2
        frequencies = [one["energy"]["frequency"] for one in trainings]
        mean = arm["summary"]["frequency"]["mean"]
        assert mean == pytest.approx(sum(frequencies) / 2)
        for one in trainings:
            assert sum(one["energy"]["bands"]) == pytest.approx(one["energy"]["total"])
            assert sum(one["energy"]["shares"]) == pytest.approx(1)
            assert "test_score" not in one
    assert len(seeds) == 1  # all contenders meet the same splits and weights
    assert "gcn+clar on csbm-homophily" in result.stderr


def test_the_first_training_is_that_of_train_without_the_view():
    alone = json.loads(train(*QUICK, "--method", "gcn+clar", "--index", "3", "--json").stdout)
    shown = json.loads(spectrum("--method", "gcn+clar", "--index", "3", "--json").stdout)
    beside = shown["contenders"][1]["trainings"][0]
    del beside["energy"]
    assert {**beside, "seconds": 0} == {**alone, "seconds": 0}


def test_the_page_shows_bands_bars_and_what_is_seen():
    page = spectrum("--method", "gcn+clar", "--splits", "2", "--test").stdout
    lines = page.splitlines()
    assert lines[0] == "csbm-homophily, balanced-60-20-20, 2 trainings: mean ± standard deviation"
    assert all(f"{start:.2f}-{end:.2f}" in page for start, end in frequencies.band_edges())
    assert "###" in page
    rows = ("frequency ", "energy ", "constant ", "validation ", "test ")
    assert all(any(line.startswith(row) for line in lines) for row in rows)
    assert "The control sampling=any" in page
    assert "this is a view, not a test" in page
    assert max(map(len, lines)) <= 100


def test_one_training_is_not_oversold():
    page = spectrum("--method", "gcn").stdout
    assert "one training" in page.splitlines()[0]
    assert "One training shows nothing for sure: --splits 5" in page
    assert "±" not in page and "sampling" not in page and "\ntest" not in page


def test_a_condition_changes_the_graph_whose_frequencies_are_measured():
    whole, dropped = (
        json.loads(spectrum("--method", "gcn", "--json", *condition).stdout)
        for condition in ([], ["--condition", "drop_edges=0.5"])
    )
    assert whole["eigenvalues"] != dropped["eigenvalues"]
    assert "drop_edges=0.5" in spectrum("--method", "gcn", "--condition", "drop_edges=0.5").stdout


def test_a_large_graph_is_shown_without_bands(monkeypatch):
    monkeypatch.setattr(frequencies, "FULL_SPECTRUM_NODES", 100)
    page = spectrum("--method", "gcn+clar").stdout
    assert "csbm-homophily has 600 nodes: energies of bands need all" in page
    assert "frequency" in page and "0.00-0.18" not in page
    shown = json.loads(spectrum("--method", "gcn+clar", "--json").stdout)
    energy = shown["contenders"][0]["trainings"][0]["energy"]
    assert shown["bands"] is shown["eigenvalues"] is energy["bands"] is energy["shares"] is None
    assert energy["frequency"] > 0


def test_several_splits_need_the_view():
    result = CliRunner().invoke(main, ["train", *QUICK, "--method", "gcn", "--splits", "2"])
    assert result.exit_code == 1
    assert "--splits 2: one training has one split. Add --spectrum." in result.stderr


def test_texas(data_folder):
    words = ["--graph", "texas", "--data", str(data_folder), "--method", "gcn+clar"]
    shown = json.loads(train(*words, "--max-epochs", "100", "--spectrum", "--json").stdout)
    frequencies = {
        arm["label"]: arm["trainings"][0]["energy"]["frequency"] for arm in shown["contenders"]
    }
    assert all(0 < value < 2 for value in frequencies.values())
    # With these weights the penalty smooths, whatever it draws.
    assert frequencies["gcn+clar"] < frequencies["gcn"]
    assert frequencies["gcn+clar sampling=any"] < frequencies["gcn"]
