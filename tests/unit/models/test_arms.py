"""What switches a regularizer off, and what is trained beside a winner."""

import sys
import types

import pytest
import torch

from clar_tune.models.arms import Arm, arms_of, method_of_arm
from clar_tune.models.method import Method
from clar_tune.models.regularizers import REGULARIZERS
from clar_tune.switches import OFF, is_off


class Own(torch.nn.Module):
    """A user's penalty."""

    def __init__(self, *, weight: float = 1.0) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, h, edge_index):
        return self.weight * h.square().mean()


@pytest.fixture
def own(monkeypatch) -> str:
    module = types.ModuleType("own_penalties")
    module.Own = Own
    monkeypatch.setitem(sys.modules, "own_penalties", module)
    return "own_penalties:Own"


def arms(name: str, plain: dict | None = None, **params) -> dict[str, Arm]:
    method = Method.parse(name)
    others = None if plain is None else method.plain.checked(plain)
    return arms_of(method, method.checked(params), others)


def test_every_built_in_regularizer_can_be_switched_off():
    assert OFF.keys() == REGULARIZERS.keys() - {"none"}


@pytest.mark.parametrize("name", OFF)
def test_off_is_seen_in_the_parameters(name):
    method = Method.parse(f"gcn+{name}")
    assert not is_off(name, method.checked({}))
    for way in OFF[name]:
        assert is_off(name, method.checked(way))
        assert list(arms(f"gcn+{name}", {}, **way)) == ["on"]


def test_one_weight_of_two_is_not_off():
    assert not is_off("clar", Method.parse("gcn+clar").checked({"alpha": 0}))
    assert is_off("clar", {"alpha": 0, "beta": 0})  # as a row of any version has it
    assert is_off("none", {}) and not is_off("mine:Own", {"weight": 0.0})


def test_the_arms_of_a_winner():
    """The plain winner has other shared parameters; the penalties are the winner's."""
    found = arms("gcn+preg", {"lr": 0.3, "dropout": 0.7}, lr=0.1, dropout=0.2, weight=2.0)
    assert list(found) == ["on", "off", "cross"]
    on, off, cross = found.values()
    plain = Method.parse("gcn")
    assert (off.method, off.params) == (plain, plain.checked({"lr": 0.1, "dropout": 0.2}))
    assert cross.method == on.method
    assert cross.params == on.method.checked({"lr": 0.3, "dropout": 0.7, "weight": 2.0})


def test_clar_has_its_halves_and_its_control():
    found = arms("sage+clar", {}, beta=2.0, samples=4)
    assert list(found) == ["on", "off", "cross", "nl", "any"]
    winner = found["on"].params
    assert found["nl"].params == {**winner, "beta": 0.0}
    assert found["any"].params == {**winner, "sampling": "any"}
    assert list(arms("gcn+clar", {}, beta=0)) == ["on", "off", "cross"]
    assert list(arms("gcn+clar", {}, sampling="any")) == ["on", "off", "cross", "nl"]


def test_without_a_plain_study_nothing_is_crossed():
    assert list(arms("gcn+dropedge")) == ["on", "off"]
    assert list(arms("gcn", {})) == ["on"]


def test_a_parameter_that_is_silent_in_the_plain_winner_is_not_taken_from_the_other():
    found = arms("gat+clar", {}, activation="relu")
    assert found["off"].params["activation"] == "relu"
    assert "activation" not in found["cross"].params


def test_a_users_penalty_is_off_when_it_is_not_called(own):
    found = arms(f"gcn+{own}", {"lr": 0.2}, weight=0.0, lr=0.1)
    assert found["off"] == Arm(Method.parse("gcn"), Method.parse("gcn").checked({"lr": 0.1}))
    assert found["cross"].params == found["on"].method.checked({"weight": 0.0, "lr": 0.2})


@pytest.mark.parametrize("name", ["gcn+clar", "gat+madreg", "mlp+adagraph"])
def test_each_arm_is_a_configuration_of_its_method(name):
    method = Method.parse(name)
    for label, arm in arms(name, {"lr": 0.2}).items():
        assert arm.method == method_of_arm(method, label)
        assert arm.method.checked(arm.params) == arm.params
