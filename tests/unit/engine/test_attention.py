"""Attention: dropout of its weights, both activations, heads of any number and width."""

import numpy as np
import pytest
import torch
from support.engines import generated, halves, run_both, spec_of

from clar_tune.engine import ArrayGraph, task_of, train
from clar_tune.engine.compiling import called
from clar_tune.engine.dense import ELU, RELU
from clar_tune.engine.randomness import ATTENTION, PER_LAYER, fill_words, key_of
from clar_tune.models import TensorGraph, attention
from clar_tune.models.adjacency import per_head

HEADS = 3


@pytest.mark.parametrize("heads", [1, 8, 11])
@pytest.mark.parametrize("hidden", [5, 32, 48])
def test_heads_of_any_number_and_width(heads, hidden):
    graph = generated()
    both = run_both(spec_of(graph, "gat", heads=heads, hidden=hidden, layers=3), graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)


def test_attention_dropout_with_given_masks(monkeypatch):
    graph = generated()
    spec = spec_of(graph, "gat", heads=HEADS, hidden=8, attention_dropout=0.5)
    network = task_of(spec, ArrayGraph.of(graph), halves(graph)).task.network
    adjacency, calls = TensorGraph.of(graph).adjacency, iter(range(10**6))
    starts = network.operator.matrix.starts.astype(np.int64)
    rows = np.repeat(np.arange(60), np.diff(starts))
    columns = network.operator.matrix.columns.tolist()
    place_of = {end: place for place, end in enumerate(zip(rows, columns, strict=True))}

    def same(weights: torch.Tensor, rate: float) -> torch.Tensor:
        epoch, layer = divmod(next(calls), 2)
        heads = HEADS if layer == 0 else 1
        key = np.uint64(called(key_of)(network.seed, ATTENTION + PER_LAYER * layer, epoch + 1))
        words = np.empty(len(columns) * network.lanes // 2, np.uint32)
        called(fill_words)(key, 0, len(words), words)
        keep = words.view(np.uint16).reshape(-1, network.lanes) >= 65536 * rate
        pattern = per_head(adjacency, heads)
        ends = zip(pattern.rows.tolist(), pattern.indices.tolist(), strict=True)
        mask = [keep[place_of[row % 60, column % 60], row // 60] for row, column in ends]
        return weights * torch.tensor(mask) / (1 - rate)

    monkeypatch.setattr(attention, "dropped", same)
    both = run_both(spec, graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)
    assert next(calls) == 2 * 21  # the torch path begins one epoch more than it needs


def test_relu_takes_the_place_of_elu():
    graph = generated()
    losses = []
    for activation, kind in (("elu", ELU), ("relu", RELU)):
        both = run_both(spec_of(graph, "gat", hidden=8, activation=activation), graph)
        np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)
        assert both.prepared.task.layers.activation == kind
        losses.append(both.native[-1])
    assert losses[0] != losses[1]


@pytest.mark.parametrize(("own", "rate"), [(None, 0.4), (0.0, 0.0), (0.2, 0.2)])
def test_attention_is_dropped_as_everything_is_unless_it_has_its_own_rate(own, rate):
    graph = generated()
    spec = spec_of(graph, "gat", dropout=0.4, attention_dropout=own)
    assert task_of(spec, ArrayGraph.of(graph), halves(graph)).task.network.dropout == rate


def test_attention_dropout_alone_makes_two_passes():
    graph = generated()
    arrays, nodes = ArrayGraph.of(graph), halves(graph)
    plain, dropped = (
        train(spec_of(graph, "gat", attention_dropout=rate), arrays, nodes).record.val_loss
        for rate in (0.0, 0.5)
    )
    assert plain != dropped
