"""On which device a run trains, with stand-ins for machines that are asked."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from support.simulation import plan_from

from clar_tune.cluster import gpu_check, gpu_devices
from clar_tune.cluster.gpu_devices import WITHOUT_GPU, resolve_devices
from clar_tune.cluster.resources import Node
from clar_tune.device_check import DeviceFacts, Finding, Report
from clar_tune.errors import ClusterError, ParameterError

GIB = 2**30
A100 = DeviceFacts(name="A100", driver="570.1", memory=40 * GIB, context=GIB // 2, torch="2.13")
T4 = DeviceFacts(name="T4", driver="570.1", memory=4 * GIB, context=GIB // 2, torch="2.13")
MACHINES = [Node(cpus=4, gpus=2, id="one"), Node(cpus=4, gpus=1, id="two"), Node(4, 0, id="head")]
RIGHT = Finding(check="numbers", ok=True, found="2 methods: off by at most 1e-6")
WRONG = Finding(check="numbers", ok=False, found="gcn: gradient off by 0.1")


@pytest.fixture
def reports(monkeypatch):
    """Reports by the names of devices."""
    known = {}
    monkeypatch.setattr(gpu_devices, "reported", lambda facts: known.get(facts.name))
    return known


def report_of(facts, *findings):
    return Report(node="n", number="0", facts=facts, findings=findings)


def resolved(seen, share=0.25, device=None, finding=RIGHT, gpus=0.25):
    tested = []

    def test(node, number, methods):
        tested.append((node.id, number, methods))
        return [finding]

    plan = plan_from(gpus=gpus, device=device)
    return resolve_devices(plan, MACHINES, share, lambda nodes: seen, test), tested


def test_a_device_without_a_report_is_tested_with_the_methods_of_the_run(reports):
    devices, tested = resolved({"one": [A100, A100], "two": [A100]})
    assert devices.device == "cuda"
    assert tested == [("one", 0, ["gcn", "gcn+clar"])]  # alike devices once
    (remark,) = devices.remarks
    assert remark.startswith("A100 has no good report of `clar-tune doctor --gpu`: tested for")


def test_a_device_with_a_report_is_trusted_and_its_context_known(reports):
    reports["A100"] = report_of(replace(A100, context=300), RIGHT)
    devices, tested = resolved({"one": [A100, A100], "two": []})
    assert (tested, devices.remarks, devices.context) == ([], [], 300)
    assert devices.blind == {"two": "Ray promises a GPU there, and torch sees none"}


def test_a_report_of_faults_is_none(reports):
    reports["A100"] = report_of(A100, WRONG)
    assert resolved({"one": [A100]})[1]


def test_a_device_that_computes_something_else_is_refused(reports):
    with pytest.raises(ClusterError, match="A100 cannot be trusted: gcn: gradient off by 0.1"):
        resolved({"one": [A100]}, finding=WRONG)


def test_a_share_that_is_all_context_is_refused_before_anything_starts(reports):
    with pytest.raises(ParameterError, match="0.125: of 4096 MiB"):
        resolved({"one": [A100], "two": [T4]}, share=0.125)


def test_logical_gpus_train_on_processors_and_that_is_said(reports):
    devices, tested = resolved({"one": [], "two": []})
    assert (devices.device, devices.remarks, tested) == ("cpu", [WITHOUT_GPU], [])


def test_a_run_stays_on_the_device_that_it_began_on(reports):
    assert resolved({"one": [A100]}, device="cpu")[0].device == "cpu"
    assert resolved({"one": [A100]}, device="cuda")[0].device == "cuda"
    assert resolved({"one": [A100]}, gpus=0.0)[0].device == "cpu"
    with pytest.raises(ClusterError, match="torch sees none on any machine"):
        resolved({"one": []}, device="cuda")
    with pytest.raises(ParameterError, match="Give --gpus-per-trial"):
        resolved({}, share=0.0, device="cuda")


def test_machines_that_are_yet_to_come_are_believed():
    plan = plan_from(gpus=0.25)
    assert resolve_devices(plan, [Node(4, 0)], 0.25, lambda nodes: {}).device == "cuda"


def test_a_cluster_without_a_gpu_is_told_what_to_do(monkeypatch):
    asked = []

    @contextmanager
    def connected(address, logical_gpus=None):
        asked.append(logical_gpus)
        yield [Node(cpus=4, gpus=0)]

    monkeypatch.setattr(gpu_check, "connected", connected)
    for address, device in (("local", "cuda"), ("auto", "cpu"), ("local", "cpu")):
        with pytest.raises(ClusterError, match="no machine of the cluster has a GPU"):
            gpu_check.check_gpus(address, 0.5, device)
    assert asked == [None, None, 1]  # only the private cluster of a trial gets a logical one
