import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clar_tune.cli import main
from clar_tune.graphs import pyg
from clar_tune.graphs.catalogue import DATASETS


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["graphs", *arguments])


def put(name: str, root: Path, data_folder: Path) -> None:
    folder = root / DATASETS[name].source.folder
    folder.parent.mkdir(parents=True)
    folder.symlink_to(data_folder / DATASETS[name].source.folder)


def test_the_list_fits_100_columns_and_names_every_graph(cache):
    result = run()
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    rows = {line.split()[0]: line for line in lines if line.strip()}
    assert set(DATASETS) <= set(rows)
    assert rows["texas"].split()[1:6] == ["183", "325", "1,703", "5", "0.108"]
    assert "not here" in rows["texas"]
    assert "generated" in rows["csbm-homophily"]
    assert "synthetic" in rows["csbm-homophily"]
    assert "directed, leaky" in rows["chameleon"]


def test_the_list_as_json(cache, tmp_path):
    (tmp_path / "texas" / "raw").mkdir(parents=True)
    cached = cache / DATASETS["photo"].source.folder
    cached.mkdir(parents=True)
    (cached / DATASETS["photo"].source.files[0]).touch()
    rows = {row["name"]: row for row in json.loads(run("--data", str(tmp_path), "--json").stdout)}
    assert list(rows) == list(DATASETS)
    assert rows["cornell"]["notes"] == ["directed", "same nodes as texas"]
    assert rows["minesweeper"]["metric"] == "roc_auc"
    assert rows["cora"]["homophily"] == 0.81
    assert {name: rows[name]["found"] for name in ("texas", "photo", "cora")} == {
        "texas": "data folder",
        "photo": "cache",
        "cora": "not here",
    }


def test_verify_says_ok_or_not_here(cache, data_folder, tmp_path):
    put("texas", tmp_path / "data", data_folder)
    result = run("verify", "--data", str(tmp_path / "data"))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) == len(DATASETS)
    assert "texas: ok" in lines
    assert "csbm-homophily: ok" in lines
    assert "cora: not here" in lines


def test_verify_fails_on_a_named_graph_that_is_not_here(cache):
    result = run("verify", "csbm-homophily", "cora")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == ["csbm-homophily: ok", "cora: not here"]


def test_verify_fails_on_a_damaged_graph_and_goes_on(cache, data_folder, tmp_path):
    put("texas", tmp_path / "data", data_folder)
    (tmp_path / "data" / "Cora" / "raw").mkdir(parents=True)
    result = run("--data", str(tmp_path / "data"), "verify", "cora", "texas", "--json")
    assert result.exit_code == 1
    first, second = json.loads(result.stdout)
    assert first["name"] == "cora"
    assert "ind.cora.x is missing" in first["verdict"]
    assert second == {"name": "texas", "verdict": "ok"}


def test_verify_names_an_unknown_graph(cache):
    result = run("verify", "coraa")
    assert result.exit_code == 1
    assert "unknown graph 'coraa'" in result.stdout


def test_verify_accepts_a_version_by_its_hash(cache):
    version = f"csbm-homophily@{DATASETS['csbm-homophily'].facts.hash[:8]}"
    assert run("verify", version).stdout == f"{version}: ok\n"


def test_fetch_downloads_into_the_cache(cache, tmp_path, monkeypatch):
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    (upstream / "tolokers.npz").write_bytes(b"x" * 1000)
    monkeypatch.setattr(pyg, "base_url", lambda source: upstream.as_uri())
    result = run("fetch", "tolokers")
    assert result.exit_code == 0
    assert result.stdout == f"tolokers: in {cache}\n"
    assert "tolokers.npz" in result.stderr
    assert run("fetch", "tolokers").stdout == f"tolokers: in {cache}\n"


def test_fetch_leaves_alone_what_a_data_folder_holds(cache, tmp_path):
    (tmp_path / "texas" / "raw").mkdir(parents=True)
    assert run("fetch", "texas", "--data", str(tmp_path)).stdout == f"texas: in {tmp_path}\n"
    assert not cache.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fetch", "coraa"], "Did you mean 'cora'"),
        (["fetch", "csbm-homophily"], "nothing to fetch"),
        (["--data", "nowhere"], "there is no folder nowhere"),
        (["fetch", "cora", "--data", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_expected_failures_are_one_line_on_stderr(cache, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.strip().count("\n") == 0


def test_fetch_without_a_name_is_a_usage_error():
    assert run("fetch").exit_code == 2
