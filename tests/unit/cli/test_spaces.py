import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clar_tune.cli import main
from clar_tune.space import shipped_spaces

SPACE = """\
description: Mine.
graphs: [cora, cs]
methods: [gcn, gcn+clar]
protocol: {cora: planetoid, cs: coauthor-20-30}
conditions:
  - sweep: {layers: [2, 4], clamp: [1, null]}
    methods: [gcn+clar]
search: {trials: 4, repeats: 3}
finals: 2
settings:
  tuned:
    shared: {lr: {low: 0.01, high: 0.1, log: true}}
    regularizers:
      clar:
        reduction: {choices: [trace, node-mean]}
        alpha: {choices: [0, 1], when: {reduction: trace}}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["spaces", *arguments])


@pytest.fixture
def mine(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(SPACE)
    return "mine.yaml"


def test_the_list_names_every_space_within_100_columns():
    result = run()
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    rows = {line.split()[0]: " ".join(line.split()) for line in lines if line.strip()}
    assert set(shipped_spaces()) <= set(rows)
    assert rows["quickstart"].startswith("quickstart 2 4 8 8 x 3 + 10 ")


def test_the_budget_of_a_space_without_a_search_is_its_finals():
    lines = CliRunner().invoke(main, ["spaces"]).stdout.splitlines()
    budgets = {line.split()[0]: line.split()[4:7] for line in lines if line.strip()}
    assert budgets["sensitivity"][:2] == ["10", "The"]
    assert budgets["depth"] == ["16", "x", "3"]


def test_the_list_as_json():
    rows = {row["name"]: row for row in json.loads(run("--json").stdout)}
    assert list(rows) == list(shipped_spaces())
    assert rows["heterophily"]["studies"] == 60
    assert rows["heterophily"]["settings"]["paper"]["finals"] == 50
    assert rows["quickstart"]["settings"]["tuned"]["search"]["trials"] == 8
    assert rows["quickstart"]["conditions"] == {}


def test_show_puts_methods_that_are_treated_alike_on_one_line():
    result = run("show", "heterophily")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    shared = [line.split() for line in lines if line.startswith(" lr ")]
    assert [words[-1] for words in shared[:3]] == ["all"] * 3
    assert shared[3][:5] == ["lr", "0.05", "all", "on", "texas,"]
    assert "tuned: trials 16, repeats 9 (27 on graphs below 1,000 nodes), reduction 3" in (
        " ".join(result.stdout.split())
    )
    assert "paper: trials 15, repeats 9" in result.stdout
    assert "released: trials 15, repeats 9" in result.stdout
    assert "paper" not in run("show", "quickstart").stdout


def test_show_tells_conditions_protocols_and_when(mine):
    output = run("show", mine).stdout
    assert "planetoid: cora\ncoauthor-20-30: cs\n" in output
    assert "conditions of gcn+clar: layers 2, 4 x clamp 1, null\n" in output
    assert "0, 1 when reduction is trace" in output
    assert "0.01 to 0.1, log" in output


def test_show_one_of_the_settings():
    output = run("show", "heterophily", "--settings", "paper").stdout
    assert "paper: trials 15" in output
    assert "tuned: trials" not in output


def test_show_as_json_resolves_every_method(mine):
    shown = json.loads(run("show", mine, "--json").stdout)
    methods = shown["settings"]["tuned"]["methods"]
    lr = {"low": 0.01, "high": 0.1, "log": True, "integer": False, "when": {}}
    assert methods["gcn"] == {"lr": lr}
    assert methods["gcn+clar"]["lr"] == lr
    assert methods["gcn+clar"]["alpha"] == {"values": [0, 1], "when": {"reduction": ["trace"]}}
    assert len(shown["conditions"]["gcn+clar"]) == 4
    assert "gcn" not in shown["conditions"]


def test_check_says_ok_and_how_much(mine):
    # per graph: gcn 4 x 3 + 2; gcn+clar under 4 conditions as much, and 2 of off, nl and any.
    expected = f"{mine}: ok, 10 studies, trainings at most: tuned 188\n"
    result = run("check", mine)
    assert (result.exit_code, result.stdout) == (0, expected)


def test_check_goes_on_after_an_error(mine):
    Path("bad.yaml").write_text(SPACE.replace("planetoid", "planetiod"))
    result = run("check", "bad.yaml", mine)
    assert result.exit_code == 1
    first, second = result.stdout.splitlines()
    assert first.startswith("bad.yaml:4: protocol.cora: unknown protocol 'planetiod'. Did you")
    assert second.startswith("mine.yaml: ok")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "quikstart"], "unknown space 'quikstart'. Did you mean 'quickstart'?"),
        (["show", "quickstart", "--settings", "paper"], "unknown settings of quickstart 'paper'"),
        (["show", "nowhere.yaml"], "nowhere.yaml: the file cannot be read"),
    ],
)
def test_expected_failures_are_one_line_on_stderr(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.strip().count("\n") == 0


def test_show_says_what_makes_columns_and_what_is_correlated():
    shown = run("show", "sampling", "--settings", "paper").stdout
    assert "columns: method and sampling; other conditions make rows" in shown
    assert "correlates: Pearson of the test scores under sampling node, edge, any" in shown
    assert "beside Table VI of the paper" in shown
    assert (
        "correlates: Spearman of samples and the test score" in run("show", "sensitivity").stdout
    )
    plain = run("show", "quickstart").stdout
    assert "columns:" not in plain and "correlates:" not in plain and "Table" not in plain


def test_the_layout_as_json():
    shown = json.loads(run("show", "sampling", "--json").stdout)
    assert shown["columns"] == ["sampling"] and shown["paper"] == "VI"
    assert shown["correlate"] == {"pearson": "sampling", "of": ["node", "edge", "any"]}
    assert json.loads(run("show", "depth", "--json").stdout)["correlate"] is None
