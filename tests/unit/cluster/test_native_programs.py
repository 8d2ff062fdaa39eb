"""Native programs from the driver's side, and workers that cannot load them."""

import pytest
from support.simulation import plan_from

from clar_tune import engine
from clar_tune.cluster.native_programs import compile_programs, engine_remarks
from clar_tune.cluster.worker import Worker
from clar_tune.search import Assignment, BrokenProcess, Job
from clar_tune.training import engines


@pytest.fixture
def asked(monkeypatch):
    """What is asked to be compiled, where nothing was before."""
    found: list[str] = []
    monkeypatch.setattr(engine, "may_use_cache", lambda: True)
    monkeypatch.setattr(engine, "uncompiled", list)
    monkeypatch.setattr(engine, "compile_all", found.extend)
    return found


def test_programs_of_native_studies_are_compiled_once_each_and_said(asked):
    said: list[str] = []
    compile_programs(plan_from(engine="native"), said.append)
    assert asked == ["gcn"]
    assert said == ["compiling gcn for this machine, which is done once"]


def test_nothing_is_said_of_what_is_compiled_or_not_needed(asked, monkeypatch):
    said: list[str] = []
    compile_programs(plan_from(), said.append)
    monkeypatch.setattr(engine, "uncompiled", lambda backbones: [])
    compile_programs(plan_from(engine="native"), said.append)
    assert (asked, said) == ([], [])


def test_a_cache_that_cannot_be_used_is_named(asked, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(engine, "may_use_cache", lambda: False)
    compile_programs(plan_from(engine="native"), said.append)
    assert asked == []
    (line,) = said
    assert "each worker compiles its programs anew" in line and str(engine.cache_folder()) in line


def test_what_torch_trains_in_its_place_is_said_once(monkeypatch):
    assert engine_remarks(plan_from()) == engine_remarks(plan_from(engine="torch")) == []
    assert engine_remarks(plan_from(engine="native")) == []
    monkeypatch.setattr(engines, "has_numba", lambda: False)
    (line,) = engine_remarks(plan_from(engine="native"))
    assert line == ("torch trains gcn, gcn+clar, not the native engine: numba is not installed")
    (line,) = engine_remarks(plan_from(engine="native").on("cuda"))
    assert line.endswith("it trains on processors alone")


def test_a_worker_that_cannot_do_what_is_asked_is_lost(monkeypatch):
    study = plan_from(engine="native").studies[0]
    spec = study.spec(study.method.complete({}), "repeat", 0, "hash")
    given = {"trial": 0, "purpose": "repeat", "first": 0, "variant": {}, "seed": 0}
    job = Job(study=0, specs=(spec,), timeout=60, **given)
    worker = object.__new__(Worker)
    worker._out_of_memory = False
    worker.reset_config({"assignment": Assignment((job,))})
    monkeypatch.setattr(engines, "has_numba", lambda: False)
    with pytest.raises(BrokenProcess, match="gcn: numba is not installed"):
        worker.step()
