"""Native programs from the driver's side, and workers that cannot load them."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
from ray.exceptions import RayActorError, RayTaskError
from support.simulation import plan_from

from clar_tune import engine
from clar_tune.cluster import native_programs
from clar_tune.cluster.native_programs import compiling_programs, engine_remarks, unable_to_run
from clar_tune.cluster.resources import Node
from clar_tune.cluster.worker import Worker
from clar_tune.engine.scope import LARGE
from clar_tune.errors import ClusterError
from clar_tune.search import Assignment, BrokenProcess, Job, Size
from clar_tune.training import engines

SMALL = {"csbm-homophily": Size(nodes=10, edges=20, features=5, entries=30, outputs=2)}


@pytest.fixture
def asked(monkeypatch):
    """What is asked to be compiled, where nothing was before."""
    found: list[str] = []
    monkeypatch.setattr(engine, "may_use_cache", lambda: True)
    monkeypatch.setattr(engine, "uncompiled", list)
    monkeypatch.setattr(
        engine, "compilation", lambda names: nullcontext(lambda: found.extend(names))
    )
    return found


def compile_programs(*given) -> None:
    with compiling_programs(*given) as finish:
        finish()


def untold(text: str) -> None:
    pytest.fail(f"told of {text}")


def test_programs_of_native_studies_are_compiled_once_each_and_told_of(asked):
    noted: list[str] = []
    compile_programs(plan_from(engine="native"), SMALL, untold, noted.append)
    assert asked == ["gcn"]
    assert noted == ["compiling gcn for this machine, which is done once"]


@pytest.mark.parametrize(("threads", "name"), [(1, "gcn"), (2, "gcn-shared")])
def test_threads_that_share_a_large_graph_have_a_program_of_their_own(asked, threads, name):
    sizes = {graph: replace(size, entries=LARGE) for graph, size in SMALL.items()}
    compile_programs(
        plan_from(engine="native", threads=threads), sizes, untold, lambda noted: None
    )
    assert asked == [name]


def test_nothing_is_said_of_what_is_compiled_or_not_needed(asked, monkeypatch):
    compile_programs(plan_from(engine="torch"), SMALL, untold, untold)
    monkeypatch.setattr(engine, "uncompiled", lambda backbones: [])
    compile_programs(plan_from(engine="native"), SMALL, untold, untold)
    assert asked == []


def test_a_cache_that_cannot_be_used_is_named(asked, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(engine, "may_use_cache", lambda: False)
    compile_programs(plan_from(engine="native"), SMALL, said.append, untold)
    assert asked == []
    (line,) = said
    assert "each worker compiles its programs anew" in line and str(engine.cache_folder()) in line


def test_a_full_cache_that_cannot_be_written_to_is_used_in_silence(asked, monkeypatch):
    monkeypatch.setattr(engine, "may_use_cache", lambda: False)
    monkeypatch.setattr(engine, "uncompiled", lambda backbones: [])
    compile_programs(plan_from(engine="native"), SMALL, untold, untold)
    assert asked == []


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


MACHINES = [Node(2, 0, name="a", id="1"), Node(2, 0, name="b", id="2"), Node(0, 0, id="head")]


def test_machines_that_cannot_run_programs_get_no_jobs():
    asked: list[str] = []

    def ask(nodes):
        asked.extend(node.id for node in nodes)
        return {"2": "numba is not installed"}

    found = unable_to_run(plan_from(engine="native"), MACHINES, ask)
    assert (asked, found) == (["1", "2"], {"2": "numba is not installed"})


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RayTaskError("ask", "", ImportError("another version")), "another version"),
        (RayActorError(), None),
    ],
)
def test_a_machine_that_fails_to_answer_is_named_and_one_that_is_lost_is_not(
    error, told, monkeypatch
):
    def fail(answer):
        raise error

    monkeypatch.setattr("ray.get", fail)
    found = native_programs._told(object())
    assert found is None if told is None else told in found


def test_a_plan_for_torch_asks_nobody():
    plan = plan_from(engine="torch")
    assert unable_to_run(plan, MACHINES, lambda nodes: pytest.fail("asked")) == {}


def test_a_run_that_no_machine_can_train_is_refused():
    causes = {"1": "numba is not installed", "2": "numba cannot be loaded (no LLVM)"}
    with pytest.raises(ClusterError) as refused:
        unable_to_run(plan_from(engine="native"), MACHINES, lambda nodes: causes)
    assert "a: numba is not installed; b: numba cannot be loaded (no LLVM)" in str(refused.value)
