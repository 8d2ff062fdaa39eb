"""Every fault of a regularizer is caught by a check of its own, in one sentence."""

import pytest
from support import wrong_regularizers
from support.wrong_regularizers import (
    Drawn,
    DrawsOnce,
    MeanOverNothing,
    RefusesZero,
    RightPenalty,
    RightRegularizer,
)

from clar_tune.testing import check_regularizer

RINGS = "two joined rings and an isolated node"
FAULTS = {
    "OnePerNode": r"is refused: OnePerNode: a penalty is a tensor of one number, got \(13,\)\.",
    "PlainNumber": r"is refused: PlainNumber: a penalty is a tensor of one number, got float\.",
    "LogOfNothing": rf"{RINGS}: the penalty must be finite, got (nan|inf|-inf)\.",
    "InfiniteGradient": r"the penalty's gradient must be finite, got 39 entries that are not\.",
    "NeedsThreeNodes": r"a path of 2 nodes fails: IndexError at wrong_reg.*: index 2",
    "Detached": r"the penalty must have a gradient with respect to the logits, got a constant",
    "WritesLogits": rf"{RINGS}: logits and edges must stay as they were, got another h\.",
    "WritesEdges": rf"{RINGS}: logits and edges must stay as they were, got another edge_index\.",
    "DrawsElsewhere": r"as a module equal seeds must give equal values, got .* and",
    "NoisyGradient": r"two trainings of 3 epochs with equal seeds must give equal numbers, got",
    "HasWeights": r"HasWeights: it must have no parameters to be learned, .*, got scale\.",
    "ActsWithoutWeight": r"with weight at 0 a training must be that of the plain backbone, got",
    "NeedsMore": r"NeedsMore is refused: .*needs weight, strength\. Give defaults",
    "NoPenaltyType": r"penalty\(\) must return a Penalty or None, got Tensor\.",
    "NoNumberAsModule": r"as a module its value must be a tensor of one number, got \(13, 3\)\.",
    "DrawsElsewhereAsModule": r"as a module equal seeds must give equal values, got .* and",
    "HidesItsPenalty": r"a class with a penalty must say has_penalty, got False\.",
    "LosesATerm": r"values of the 2 terms must be one row without gradient, got \(1,\)\.",
    "KeepsGradients": r"must be one row without gradient, got \(1,\) with one\.",
    "InfiniteTerm": r"values of terms must be finite, got \[inf\]\.",
    "LosesANode": rf"{RINGS}: epoch_graph\(\) must return an Adjacency of 13 nodes, got 12\.",
    "ReturnsEdges": r"rewired\(\) must return an Adjacency of 13 nodes, got Tensor\.",
    "OneWay": r"rewired\(\) must return each edge once in both directions, .*, got \[\(0, 1\),",
    "HidesItsGraph": r"changes_epochs must say whether epoch_graph .*, got False\.",
    "KeepsItsGraph": r"changes_epochs must say whether epoch_graph .*, got True\.",
    "InfiniteFact": r"facts must be finite numbers, got \{'share': nan\}\.",
    "DrawsGraphsElsewhere": r"equal seeds must give equal penalties and graphs, got penal.* \[0\.",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_caught(fault):
    with pytest.raises(AssertionError, match=FAULTS[fault]) as failure:
        check_regularizer(f"support.wrong_regularizers:{fault}")
    assert str(failure.value).startswith(fault)
    assert "\n" not in str(failure.value)


def test_every_wrong_regularizer_is_tried():
    here = wrong_regularizers.__name__
    kinds = {name for name, kind in vars(wrong_regularizers).items() if in_module(kind, here)}
    right = {"Drawn", "RefusesZero", "RightPenalty", "RightRegularizer"}
    assert kinds == FAULTS.keys() | right | {"DrawsOnce", "MeanOverNothing"}


def in_module(kind: object, module: str) -> bool:
    return isinstance(kind, type) and kind.__module__ == module


def test_right_ones_pass():
    check_regularizer(RightPenalty, weight=0.5, without_edges=True)
    check_regularizer(RightRegularizer, random=True, without_edges=True)
    check_regularizer(Drawn, random=True, without_edges=True)
    check_regularizer(RefusesZero)


def test_draws_must_be_fresh_only_if_asked_for():
    for kind in (DrawsOnce, RightPenalty):
        check_regularizer(kind)
        with pytest.raises(AssertionError, match="must draw another penalty or another graph"):
            check_regularizer(kind, random=True)


def test_graphs_without_edges_count_only_if_asked_for():
    check_regularizer(MeanOverNothing)
    with pytest.raises(AssertionError, match="on 5 nodes without edges: the penalty .*, got nan"):
        check_regularizer(MeanOverNothing, without_edges=True)


def test_what_no_space_could_name_is_refused():
    with pytest.raises(AssertionError, match="clra is refused: unknown regularizer 'clra'"):
        check_regularizer("clra")
    with pytest.raises(AssertionError, match="unknown parameter .*'wieght'.*'weight'"):
        check_regularizer(RightPenalty, wieght=1.0)
