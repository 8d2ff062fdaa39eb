import json

import pytest
from click.testing import CliRunner, Result

from clar_tune.cli import main
from clar_tune.cli.train import parsed
from clar_tune.errors import ParameterError

QUICK = ["--graph", "csbm-homophily", "--max-epochs", "5"]


def train(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["train", *QUICK, *arguments])


def test_json_goes_to_stdout_and_progress_to_stderr():
    result = train("--method", "gcn+clar", "--set", "beta=0.5", "--set", "clamp=null", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["params"]["beta"] == 0.5
    assert record["params"]["clamp"] is None
    assert record["penalty_active"] == 1.0
    assert set(record["terms"]) == {"com", "ori"}
    assert "test_score" not in record
    assert "gcn+clar on csbm-homophily" in result.stderr


def test_the_test_score_comes_on_request_only():
    assert "test accuracy" not in train("--method", "gcn").stdout
    assert "test accuracy" in train("--method", "gcn", "--test").stdout


def test_a_penalty_without_a_gradient_is_pointed_out():
    silent = ["--set", "reduction=trace", "--set", "clamp=1e-9"]
    assert "never had a gradient" in train("--method", "gcn+clar", *silent).stdout
    assert "never had a gradient" not in train("--method", "gcn+clar").stdout


def test_the_same_command_gives_the_same_numbers():
    first, second = (json.loads(train("--method", "gat", "--json").stdout) for _ in range(2))
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    third = json.loads(train("--method", "gat", "--json", "--index", "1").stdout)
    assert third["split_seed"] != first["split_seed"]
    assert third["init_seed"] != first["init_seed"]


ODD_MODELS = """\
from torch import nn

class Vector(nn.Module):
    def forward(self, h, edge_index):
        return h.sum(0)

class Number(nn.Module):
    def forward(self, h, edge_index):
        return 0.5

class Weightless(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()

class Raises(nn.Linear):
    def forward(self, x, edge_index):
        raise KeyError("no such weight")
"""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--method", "gnc"], 1, "unknown backbone 'gnc'. Did you mean 'gcn'?"),
        (["--method", "gcn", "--set", "alpha=1"], 1, "unknown parameter of gcn 'alpha'"),
        (["--method", "gcn", "--set", "layers=0"], 1, "layers: a whole number from 1 to 64"),
        (["--method", "gcn", "--set", "layers"], 1, "write it as key=value"),
        (["--method", "gcn", "--set", "lr=[1"], 1, "the value cannot be read"),
        (["--method", "gcn", "--set", "lr=[1]"], 1, "a single value is needed"),
        (["--method", "gcn", "--graph", "cra"], 1, "unknown graph 'cra'. Did you mean 'cora'?"),
        (["--method", "gcn", "--protocol", "planetoid"], 1, "not defined for csbm-homophily"),
        (["--method", "gcn", "--set", "lr=1e30"], 1, "Lower the learning rate"),
        (["--method", "gcn", "--select", "luck"], 2, "'luck' is not one of"),
        (["--method", "gcn", "--max-epochs", "0"], 2, "0 is not in the range"),
        (["--method", "gcn", "--seed", "-1"], 2, "-1 is not in the range"),
        ([], 2, "Missing option '--method'"),
    ],
)
def test_bad_input_gets_one_clear_line(arguments, code, message):
    result = train(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("gcn+odd_models:Vector", [], "Vector: a penalty is a tensor of one number, got (4,)."),
        ("gcn+odd_models:Number", [], "Number: a penalty is a tensor of one number, got float."),
        ("odd_models:Weightless", [], "ValueError at optimizer.py:"),
        ("odd_models:Raises", [], "KeyError at odd_models.py:17: 'no such weight'"),
        ("gcn+clar", ["--set", "alpha=1e300", "--engine", "torch"], "RuntimeError at "),
        ("gcn+clar", ["--set", "alpha=1e300"], "training loss became inf in epoch 1 of gcn with"),
    ],
)
def test_models_that_fail_are_told_in_one_line(method, settings, message, tmp_path, monkeypatch):
    (tmp_path / "odd_models.py").write_text(ODD_MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    result = train("--method", method, *settings)
    assert result.exit_code == 1
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_values_are_read_as_people_mean_them():
    given = ("a=1", "b=1e-3", "c=null", "d=node-mean", "e=-0.5", "f=true", "g=2.0")
    assert parsed(given) == {
        "a": 1,
        "b": 1e-3,
        "c": None,
        "d": "node-mean",
        "e": -0.5,
        "f": True,
        "g": 2.0,
    }
    with pytest.raises(ParameterError):
        parsed(("=3",))


def test_doctor_finds_this_machine_well():
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert result.exit_code == 0, result.output
    checks = {check["name"]: check for check in json.loads(result.stdout)}
    assert checks["training"]["ok"] and "gcn+clar" in checks["training"]["found"]
    assert checks["torch"]["ok"]


def test_doctor_says_what_is_wrong(tmp_path):
    result = CliRunner().invoke(main, ["doctor", "--data", str(tmp_path / "nowhere")])
    assert result.exit_code == 1
    assert "WRONG  graphs" in result.stdout


def test_a_condition_varies_the_graph_or_fixes_a_parameter(cache):
    plain, dropped, deep = (
        json.loads(train("--method", "gcn", "--json", *words).stdout)
        for words in (
            [],
            ["--condition", "drop_edges=0.5"],
            ["--condition", "layers=3", "--condition", "band=2"],
        )
    )
    assert plain["condition"] == "" and dropped["condition"] == "drop_edges=0.5"
    assert len({plain["graph_hash"], dropped["graph_hash"], deep["graph_hash"]}) == 3
    assert deep["condition"] == "band=2,layers=3" and deep["params"]["layers"] == 3
    assert len({record["key"] for record in (plain, dropped, deep)}) == 3


def test_a_filter_is_learned_on_the_whole_graph_or_not_at_all(cache):
    words = ["--method", "gcn+clar", "--condition", "filter=low-pass"]
    refused = train(*words)
    assert refused.exit_code == 1 and "Choose the protocol whole-graph" in refused.stderr
    done = train(*words, "--protocol", "whole-graph", "--test")
    assert "validation mse" in done.stdout and "test mse" in done.stdout


@pytest.mark.parametrize("condition", ["drop_edges=1", "band=x", "filter=low", "drop_edges"])
def test_a_condition_that_makes_no_sense_is_refused(condition):
    result = train("--method", "gcn", "--condition", condition)
    assert result.exit_code == 1
    assert condition.partition("=")[0] in result.stderr
