"""What a worker does with a job, and how failures come back."""

import sys
from dataclasses import replace
from types import ModuleType

import pytest
import torch
from torch import nn

from clar_tune.graphs import seed_pair
from clar_tune.models import Method, TensorGraph
from clar_tune.search.jobs import Failure, Job, TrainingResult, perform


class Linear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)

    def forward(self, x, edge_index):
        return self.layer(x)


class Raises(Linear):
    def forward(self, x, edge_index):
        raise ValueError("a user's mistake")


class NotANumber(Linear):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index) * float("nan")


class Wrong(Linear):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index)[:, :1]


class Huge(Linear):
    def forward(self, x, edge_index):
        return torch.empty(2**60)


@pytest.fixture
def models(monkeypatch) -> None:
    module = ModuleType("their_models")
    for kind in (Linear, Raises, NotANumber, Wrong, Huge):
        setattr(module, kind.__name__, kind)
    monkeypatch.setitem(sys.modules, "their_models", module)


PROTOCOL = "random-60-20-20"


def job(graph, method: str, purpose: str = "repeat", index: int = 0) -> Job:
    seeds = seed_pair(graph.name, PROTOCOL, 0, index, purpose)
    spec = Method.parse(method).spec(graph, {}, PROTOCOL, seeds, max_epochs=3)
    return Job(
        study=0,
        trial=0,
        purpose=purpose,
        first=index,
        specs=(spec,),
        variant={},
        seed=0,
        timeout=60,
    )


def done(tiny_graph, method: str, purpose: str = "repeat", index: int = 0):
    asked = job(tiny_graph, method, purpose, index)
    return perform(asked, index, tiny_graph, TensorGraph.of(tiny_graph))


def test_another_graph_than_that_of_the_specification_is_not_trained_on(tiny_graph):
    other = replace(tiny_graph, labels=1 - tiny_graph.labels)
    failure = perform(job(tiny_graph, "gcn"), 0, other, TensorGraph.of(other))
    assert isinstance(failure, Failure) and failure.kind == "error"
    assert tiny_graph.hash in failure.text and other.hash in failure.text


def test_a_repeat_has_no_test_score_and_a_final_has_one(tiny_graph):
    repeat, final = (done(tiny_graph, "gcn", purpose) for purpose in ("repeat", "final"))
    assert isinstance(repeat, TrainingResult) and repeat.test_score is None
    of_finals = ("test_balanced", "floor", "correct", "tested", "shift", "balanced_floor")
    assert [getattr(repeat, name) for name in of_finals] == [None] * 6
    assert None not in [getattr(final, name) for name in of_finals]
    assert isinstance(final, TrainingResult) and 0 <= final.test_score <= 1
    assert repeat.test_nodes == final.test_nodes == 3  # a size is told, no label is read


def test_repeats_and_finals_use_other_splits_and_weights(tiny_graph):
    seeds = {
        (d.spec.split_seed, d.spec.init_seed)
        for purpose in ("repeat", "final")
        for d in (done(tiny_graph, "gcn", purpose, index) for index in (0, 1))
    }
    assert len(seeds) == 4


def test_methods_meet_the_same_pairs(tiny_graph):
    gcn, sage = (done(tiny_graph, method, index=4).spec for method in ("gcn", "sage"))
    assert (gcn.split_seed, gcn.init_seed) == (sage.split_seed, sage.init_seed)


@pytest.mark.parametrize(
    ("model", "kind", "text", "hints"),
    [
        ("Raises", "error", r"ValueError at test_jobs.py:\d+: a user's mistake", False),
        ("NotANumber", "diverged", "became nan", True),
        ("Wrong", "error", r"logits of shape \(8, 2\)", False),
        ("Huge", "memory", "", True),
    ],
)
def test_failures_come_back_as_values(tiny_graph, models, model, kind, text, hints):
    failure = done(tiny_graph, f"their_models:{model}")
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.hints) == (kind, hints)
    import re

    assert re.search(text, failure.text)


def test_a_users_model_trains(tiny_graph, models):
    assert isinstance(done(tiny_graph, "their_models:Linear"), TrainingResult)


def test_long_error_texts_are_cut(tiny_graph, models, monkeypatch):
    def forward(self, x, edge_index):
        raise ValueError("x" * 10_000)

    monkeypatch.setattr(Raises, "forward", forward)
    assert len(done(tiny_graph, "their_models:Raises").text) == 2000
