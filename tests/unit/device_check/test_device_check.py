"""The self-test of devices passes on a processor, and catches each fault that is planted."""

import os
import resource

import pytest
import torch

from clar_tune.device_check import leaks, numbers, repeatable, speed, tenant
from clar_tune.device_check.cases import all_cases, cases_of, few_cases
from clar_tune.device_check.facts import DeviceFacts, device_facts
from clar_tune.device_check.faults import judge_fault
from clar_tune.device_check.findings import Finding, Report, reported, save
from clar_tune.device_check.tenant import PRETENDED, Tenancy, Tenant, judge_shares
from clar_tune.errors import ParameterError
from clar_tune.models import BACKBONES, REGULARIZERS, reads_are_free
from clar_tune.models.adjacency import Adjacency
from clar_tune.models.layers import GcnLayer
from clar_tune.models.regularizers import energy

CPU = torch.device("cpu")


def checked(*methods: str, epochs: int = 3) -> Finding:
    return numbers.check_numbers(cases_of(methods), CPU, epochs)


def test_every_built_in_method_is_a_case():
    names = {case.method.name for case in all_cases()}
    assert len(names) == len(BACKBONES) * len(REGULARIZERS)
    few = {case.method.name for case in few_cases()}
    assert {name.partition("+")[0] for name in few} == set(BACKBONES)
    assert {name.partition("+")[2] or "none" for name in few} == set(REGULARIZERS)
    assert cases_of(["package.module:Own"]) == []


@pytest.mark.parametrize("case", few_cases(), ids=str)
def test_a_processor_computes_what_a_processor_computes(case):
    found = numbers.check_numbers([case], CPU, 5)
    assert found.ok, found.found
    assert found.values["gradient"] < numbers.GRADIENT / 10
    assert found.values["loss"] < numbers.LOSS / 10
    assert repeatable.check_repeatable([case], CPU, 3).ok


def test_a_wrong_gradient_is_caught(monkeypatch):
    right = energy._unread_terms

    def wrong(ctx, *given):
        found = right(ctx, *given)
        ctx.factors = [1.01 * factor for factor in ctx.factors]
        return found

    monkeypatch.setattr(energy, "_unread_terms", wrong)
    found = checked("gcn+nl", "gcn")
    assert not found.ok
    assert found.found.startswith("gcn+nl: gradient off by ")
    assert all(text.startswith("gcn+nl") for text in found.values["wrong"])


@pytest.mark.parametrize("error", [1e-2, float("nan")])
def test_a_layer_that_computes_something_else_is_caught(monkeypatch, error):
    right = GcnLayer.forward

    def wrong(self, x, graph):
        result = right(self, x, graph)
        return result + error if self.weight.dtype == torch.float32 else result

    monkeypatch.setattr(GcnLayer, "forward", wrong)
    found = checked("gcn", "mlp")
    assert not found.ok
    assert {text.partition(":")[0] for text in found.values["wrong"]} == {"gcn"}


def test_another_graph_of_the_second_round_is_caught(monkeypatch):
    right = Adjacency.thinned

    def wrong(self, keep):
        keep[0] &= reads_are_free(self.device)
        return right(self, keep)

    monkeypatch.setattr(Adjacency, "thinned", wrong)
    found = checked("gcn+adagraph")
    assert found.found == "gcn+adagraph: a second round would have other edges"


def test_an_operation_that_a_device_lacks_is_told(monkeypatch):
    def lacking(self, x, graph):
        raise RuntimeError("no kernel image is available\nfor this device")

    monkeypatch.setattr(GcnLayer, "forward", lacking)
    assert checked("gcn").found == "gcn: no kernel image is available"


def test_an_operation_that_gives_other_bits_is_named(monkeypatch):
    right = GcnLayer.forward

    def unsteady(self, x, graph):
        own = torch.Generator()
        own.seed()
        result = right(self, x, graph)
        return result + 1e-6 * torch.randn(result.shape, generator=own)

    monkeypatch.setattr(GcnLayer, "forward", unsteady)
    found = repeatable.check_repeatable(few_cases()[:3], CPU, 2)
    assert not found.ok
    (text,) = found.values["wrong"]
    assert text.startswith("gcn: other bits the second time, first by aten.randn")


def test_what_torch_does_not_promise_is_told(monkeypatch):
    right = GcnLayer.forward

    def warned(self, x, graph):
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))
        finally:
            torch.use_deterministic_algorithms(False)
        return right(self, x, graph)

    monkeypatch.setattr(GcnLayer, "forward", warned)
    found = repeatable.check_repeatable(few_cases()[:1], CPU, 2)
    assert found.ok
    assert found.values["not_promised"] == ["put_"]
    assert found.found.endswith("though torch promises none for put_")


def test_numbers_that_are_none_have_bits_too():
    none = torch.tensor([float("nan"), 1.0])
    assert repeatable.same_bits(none, none.clone())
    assert not repeatable.same_bits(none, none + 1)
    assert not repeatable.same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))


def test_memory_that_does_not_come_back_is_caught():
    assert leaks.check_leaks(CPU, trials=3).ok
    kept = []

    def leaking(device):
        leaks.short_training(device)
        kept.append(torch.zeros(300_000))  # 1.2 MB

    found = leaks.check_leaks(CPU, trials=3, work=leaking)
    assert not found.ok
    assert found.values["bytes"] >= 3 * 1_200_000


@pytest.fixture
def address_space():
    before = resource.getrlimit(resource.RLIMIT_AS)
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_process_that_takes_too_much_is_refused(address_space):
    made = Tenant("cpu", 0.25)
    assert made.fractions() == (0.125, 0.125)  # an eighth of the memory is its context
    assert made.take(0.5) == ""
    assert made.take(1.0) == "memory"
    assert made.take(0.1) == ""


def test_a_process_without_a_limit_gets_too_much(address_space, monkeypatch):
    monkeypatch.setattr(tenant, "_limit_address_space", lambda more: None)
    made = Tenant("cpu", 0.25)
    assert made.take(1.5) == ""


def test_a_share_that_is_all_context_is_refused(address_space):
    with pytest.raises(ParameterError, match="its CUDA context takes 512"):
        Tenant("cpu", 512 * 2**20 / PRETENDED)


FITTING = {
    "share": 0.5,
    "wanted": 0.4,
    "fractions": [0.4, 0.4],
    "modest": ["", ""],
    "greedy": "memory",
    "others": [""],
}


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        ({}, "one that took more failed alone"),
        ({"fractions": [0.4]}, "1 of 2 processes came"),
        ({"fractions": [0.5, 0.4]}, "instead of 0.400 each"),
        ({"modest": ["", "memory"]}, "kept to its share was refused: memory"),
        ({"greedy": ""}, "it got it"),
        ({"greedy": "RuntimeError: launch failure"}, "launch failure"),
        ({"others": ["memory"]}, "kept to its share was refused"),
    ],
)
def test_shares_are_judged(planted, told):
    found = judge_shares(Tenancy(**{**FITTING, **planted}))
    assert found.ok == (not planted)
    assert told in found.found


@pytest.mark.parametrize(
    ("losses", "failed", "state", "told"),
    [
        (["BrokenProcess: CUDA error"], [], "finished", "another did the training"),
        ([], [], "finished", "broke no process"),
        (["ValueError: what"], [], "finished", "not known for what it is: ValueError"),
        (["BrokenProcess: a", "BrokenProcess: b"], [], "finished", "the next process was lost"),
        (["BrokenProcess: a"], ["CUDA error"], "incomplete", "1 trials failed by it"),
    ],
)
def test_faults_are_judged(losses, failed, state, told):
    found = judge_fault(losses, failed, state)
    assert found.ok == ("another did" in told)
    assert told in found.found


@pytest.mark.parametrize(
    ("rates", "from_"),
    [
        ({200: (100, 50), 1000: (50, 60), 5000: (9, 50)}, 1000),
        ({200: (100, 110), 1000: (50, 40), 5000: (9, 50)}, 5000),  # the last crossing counts
        ({200: (100, 110)}, 200),
        ({200: (100, 50), 1000: (50, 40)}, None),
    ],
)
def test_the_size_from_which_a_device_is_faster(rates, from_):
    assert speed.judge_speed(rates).values["faster_from"] == from_


def test_epochs_are_timed_on_random_graphs():
    found = speed.check_speed(CPU, [60], seconds=0.01)
    assert found.ok
    assert found.values["rates"]["60"]["device"] > 0


def test_what_a_device_is(monkeypatch, tmp_path):
    facts = device_facts(CPU)
    assert facts.driver == "none"
    assert torch.__version__ in facts.torch
    assert facts.memory == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_the_driver_is_read_from_the_kernel(monkeypatch, tmp_path):
    from clar_tune.device_check import facts

    file = tmp_path / "version"
    monkeypatch.setattr(facts, "DRIVER", file)
    assert facts._driver() == "unknown"
    file.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15\n")
    assert facts._driver() == "570.86.15"


def test_a_report_speaks_for_its_device_and_versions_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    facts = DeviceFacts(name="A100", driver="570.1", memory=10, context=3, torch="2.13, CUDA 13")
    finding = Finding(check="device", ok=False, found="it is", values={"a": [1]})
    report = Report(node="here", number="0", facts=facts, findings=(finding,))
    assert reported(facts) is None
    assert save(report).is_relative_to(tmp_path)
    assert reported(facts) == report
    assert not report.ok
    for changed in ({"name": "H100"}, {"driver": "571"}, {"torch": "2.14"}, {"clar_tune": "9"}):
        values = {"name": "A100", "driver": "570.1", "torch": "2.13, CUDA 13", **changed}
        assert reported(DeviceFacts(memory=10, context=3, **values)) is None
    save(report).write_text('{"node": "here"}')
    assert reported(facts) is None
