"""Which engine trains what, and that a specification is done as it says or not at all."""

from dataclasses import replace

import pytest
from support.engines import generated, halves, spec_of

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.models import Method
from clar_tune.training import choose_engine, cpu_of, engines, form_of, make_ready, train


def chosen(asked: str, method: str = "gcn+clar", metric: str = "accuracy", **other: str):
    return choose_engine(asked, Method.parse(method), metric, other.pop("select", "loss"), **other)


def test_auto_is_native_and_torch_is_what_it_says():
    assert chosen("auto") == ("native", None)
    assert chosen("torch") == ("torch", None)


@pytest.mark.parametrize(
    ("method", "options", "reason"),
    [
        ("gcn+adagraph", {}, "regularizer adagraph"),
        ("gcn", {"device": "cuda"}, "it trains on processors alone"),
        ("gcn", {"metric": "roc_auc", "select": "accuracy"}, "selection by ROC AUC"),
    ],
)
def test_torch_is_chosen_where_the_engine_cannot(method, options, reason):
    assert chosen("native", method, **options) == ("torch", reason)
    assert chosen("auto", method, **options) == ("torch", None)


@pytest.mark.parametrize("asked", ["native", "auto"])
def test_torch_is_chosen_where_numba_is_missing(monkeypatch, asked):
    assert chosen(asked) == ("native", None)
    monkeypatch.setattr(engines, "has_numba", lambda: False)
    assert chosen(asked) == ("torch", "numba is not installed")


def test_an_engine_that_there_is_not_is_refused():
    with pytest.raises(UnknownName, match="engine"):
        chosen("fast")


def test_a_process_without_numba_says_that_it_cannot(monkeypatch):
    spec = replace(spec_of(generated(), "gcn"), engine="native")
    monkeypatch.setattr(engines, "has_numba", lambda: False)
    assert make_ready(spec) == "numba is not installed"
    assert make_ready(replace(spec, engine="torch")) is None


def test_a_graph_in_the_form_of_the_other_engine_is_refused():
    graph = generated()
    for engine, other in (("native", "torch"), ("torch", "native")):
        spec = replace(spec_of(graph, "gcn"), engine=engine)
        with pytest.raises(ParameterError, match=f"engine {engine}: it takes no"):
            train(spec, form_of(graph, other), halves(graph))


def test_a_training_on_a_gpu_is_refused_by_the_native_engine():
    graph = generated()
    spec = replace(spec_of(graph, "gcn"), engine="native", device="cuda")
    with pytest.raises(ParameterError, match="device cuda"):
        train(spec, form_of(graph, "native"), halves(graph))


def test_only_what_is_compiled_tells_a_processor():
    spec = spec_of(generated(), "gcn")
    assert cpu_of(spec) is None
    assert cpu_of(replace(spec, engine="native"))
