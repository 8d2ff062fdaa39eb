"""Every fault of a backbone is caught by a check of its own, in one sentence."""

import pytest
import torch
from support import wrong_backbones
from support.wrong_backbones import IgnoresDropout, KnowsNumbersOfNodes, Right

from clar_tune.testing import check_backbone

RINGS = "two joined rings and an isolated node"


FAULTS = {
    "TooFewOutputs": rf"{RINGS}: logits in training .* shape \(13, 3\).*, got \(13, 2\)\.",
    "Squeezes": r"one output: logits in training .* shape \(6, 1\).*, got \(6,\)\.",
    "ReturnsAPair": r"logits in training must have the shape .*, got tuple\.",
    "DividesByDegree": rf"{RINGS}: logits in training must be finite, got 3 that are not\.",
    "NanInEvaluation": r"logits in evaluation must be finite, got 39 that are not\.",
    "InfiniteGradients": r"gradients must be finite, got others for first\.bias, .*weight\.",
    "Constant": r"logits must have a gradient, got a constant",
    "NeedsEdges": r"NeedsEdges on 5 nodes without edges fails: RuntimeError at wrong_back",
    "Weightless": r"it must have parameters to be learned, got none\.",
    "ForgetsALayer": r"reach every parameter .*, got none for unused\.weight, unused\.bias\.",
    "MisspellsNoDecay": r"no_decay must name parameters, got gama\.",
    "RandomInEvaluation": r"two passes in evaluation must give equal logits, got a differ",
    "WritesFeatures": rf"{RINGS}: what it is given must stay as it was.*, got another x\.",
    "WritesEdges": rf"{RINGS}: what it is given must stay.*, got another edge_index\.",
    "WritesInEvaluation": rf"{RINGS}: what it is given must stay as .*, got another x\.",
    "DrawsWeightsElsewhere": r"must decide the first weights, got two different last\.bias\.",
    "DrawsDropoutElsewhere": r"manual_seed must decide a pass in training, got a differ",
    "NoisyGradients": r"two trainings of 3 epochs with equal seeds must give equal numbers, got",
    "KeepsEdges": r"fewer edges must give the same logits .*, got a diff.* \(`cached=True`\)\.",
    "LearnsOutsideItsState": r"as before, logits must be as before, got .* nor a buffer\.",
    "HasALazyLayer": rf"HasALazyLayer on {RINGS} fails: .*uninitialized",
    "TakesNoWidths": r"TakesNoWidths is refused: .*widths of input and output first",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_caught(fault):
    with pytest.raises(AssertionError, match=FAULTS[fault]) as failure:
        check_backbone(f"support.wrong_backbones:{fault}")
    assert str(failure.value).startswith(fault)
    assert "\n" not in str(failure.value)


def test_every_wrong_backbone_is_tried():
    here = wrong_backbones.__name__
    kinds = {name for name, kind in vars(wrong_backbones).items() if in_module(kind, here)}
    assert kinds == FAULTS.keys() | {"IgnoresDropout", "KnowsNumbersOfNodes", "Right"}


def in_module(kind: object, module: str) -> bool:
    return isinstance(kind, type) and kind.__module__ == module


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_right_one_passes(dropout):
    check_backbone(Right, hidden=4, dropout=dropout, equivariant=True)


def test_dropout_must_act_where_it_is_given():
    check_backbone(IgnoresDropout)
    with pytest.raises(AssertionError, match="with dropout two passes .* differ, got equal log"):
        check_backbone(IgnoresDropout, dropout=0.5)


def test_the_order_of_nodes_counts_only_if_asked_for():
    check_backbone(KnowsNumbersOfNodes)
    with pytest.raises(AssertionError, match="nodes in another order .*, got a difference of up"):
        check_backbone(KnowsNumbersOfNodes, equivariant=True)


def test_a_wrong_claim_to_be_deterministic_is_caught(monkeypatch):
    monkeypatch.setattr("clar_tune.models.backbones.Gcn.deterministic", True)
    with pytest.raises(AssertionError, match="gcn on .*: it calls itself deterministic"):
        check_backbone("gcn", dropout=0.5)


def test_what_no_space_could_name_is_refused():
    class Local(Right):
        """No import path leads here."""

    for wrong, sentence in (
        (Local, "Local is refused: .*cannot be imported"),
        ("gnc", "gnc is refused: unknown backbone 'gnc'.*Did you mean 'gcn'"),
        ("no_such_module:Net", "Net is refused: no_such_module:Net: cannot be imported"),
    ):
        with pytest.raises(AssertionError, match=sentence):
            check_backbone(wrong)
    with pytest.raises(AssertionError, match="unknown parameter .*'hiden'.*'hidden'"):
        check_backbone(Right, hiden=4)


def test_the_global_generator_and_thread_count_are_left_alone():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    check_backbone(Right, dropout=0.5)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
