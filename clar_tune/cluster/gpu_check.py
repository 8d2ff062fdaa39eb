"""Every device of every machine put to the test, with Ray between as in a run."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from clar_tune.cluster.asha import Asha
from clar_tune.cluster.connection import connected
from clar_tune.cluster.resources import Node
from clar_tune.device_check import (
    FAULTY,
    FULL,
    DeviceFacts,
    Effort,
    Finding,
    Report,
    Tenancy,
    Tenant,
    breaking,
    examine_device,
    judge_fault,
    judge_shares,
)
from clar_tune.errors import ClusterError
from clar_tune.graphs import Graph, load
from clar_tune.models import TensorGraph
from clar_tune.search import Assignment, Done, Scheduler, Work, perform
from clar_tune.space import Options, make_plan, parse_space
from clar_tune.training import CONTEXT

ANSWER = 300.0
"""Seconds after which a device that has not answered counts as broken."""

FAULT_SPACE = f"""\
description: a network that can break its process, trained twice
graphs: [csbm-homophily]
methods: ["{FAULTY}"]
protocol: balanced-60-20-20
training: {{max_epochs: 5}}
finals: 2
settings:
  tuned:
    shared: {{lr: 0.01}}
"""


def check_gpus(
    address: str, share: float = 1.0, device: str = "cuda", effort: Effort = FULL
) -> list[Report]:
    """A report of every device of a cluster; with ``device`` cpu its GPUs may be logical.

    A private cluster then has one logical GPU.
    """
    gpus = 1 if address == "local" and device == "cpu" else None
    with connected(address, logical_gpus=gpus) as nodes:
        having = [node for node in nodes if node.gpus >= 1]
        if not having:
            raise ClusterError(
                "no machine of the cluster has a GPU, as Ray sees it. Start machines with "
                "--num-gpus, or try the test itself with --device cpu."
            )
        examined = _examined(having, device, effort)
        return [
            replace(report, findings=(*report.findings, *_shares(report, node, share, device)))
            for node, report in examined
        ]


class Examiner:
    """A process that has a device for itself."""

    def examine(self, device: str, effort: Effort) -> tuple[str, DeviceFacts, list[Finding]]:
        """Which device it is, and what was found of it."""
        number = ",".join(ray.get_runtime_context().get_accelerator_ids().get("GPU", []))
        return number, *examine_device(device, effort)

    def work(self, given: Assignment, graph: Graph, device: str, *, breaks: bool) -> list[Done]:
        """What a worker does with an assignment; it may break at it."""
        breaking[0] = breaks
        tensors, work, done = TensorGraph.of(graph, device), Work(given), list[Done]()
        while batch := work.batch(lambda job, index, _: perform(job, index, graph, tensors)):
            done += batch
        return done


def _examined(nodes: Sequence[Node], device: str, effort: Effort) -> list[tuple[Node, Report]]:
    """Checks of each device alone: side by side on machines, in turn on the devices of one.

    All devices of a machine are taken at first, so that each is somebody's.
    """
    found = []
    examiners = {
        node.id: [_on(node, Examiner, 1) for _ in range(int(node.gpus))] for node in nodes
    }
    for place in range(max(map(len, examiners.values()))):
        asked = [
            (node, examiner, examiner.examine.remote(device, effort))
            for node in nodes
            for examiner in examiners[node.id][place : place + 1]
        ]
        for node, examiner, answer in asked:
            report = _answered(node, place, answer)
            if report.facts.memory:
                fault = _fault(node, examiner, device)
                report = replace(report, findings=(*report.findings, fault))
            found.append((node, report))
    for examiner in sum(examiners.values(), []):
        ray.kill(examiner)
    return found


def _answered(node: Node, place: int, answer: Any) -> Report:
    try:
        number, facts, findings = ray.get(answer, timeout=ANSWER)
    except ray.exceptions.RayError as error:
        facts = DeviceFacts(name="unknown", driver="unknown", memory=0, context=0, torch="unknown")
        wrong = Finding(check="device", ok=False, found=_last_line(error))
        return Report(node=node.name, number=f"?{place}", facts=facts, findings=(wrong,))
    return Report(node=node.name, number=number, facts=facts, findings=tuple(findings))


def _shares(report: Report, node: Node, share: float, device: str) -> list[Finding]:
    """Whether processes share a device that answers."""
    if not report.facts.memory:
        return []
    try:
        return [judge_shares(_tenancy(report, node, share, device))]
    except ray.exceptions.RayError as error:
        return [Finding(check="shares", ok=False, found=_last_line(error))]


def _tenancy(report: Report, node: Node, share: float, device: str) -> Tenancy:
    """As many processes as fit, on all devices of a machine; those of one are looked at."""
    count = int(1 / share + 1e-9) * int(node.gpus)
    given = (device, share, report.facts.context or CONTEXT)
    tenants = [_on(node, Tenant, share, *given) for _ in range(count)]
    numbers = _all([tenant.device_number.remote() for tenant in tenants])
    here = [t for t, number in zip(tenants, numbers, strict=True) if number == report.number]
    fractions = _all([tenant.fractions.remote() for tenant in here])
    modest = _all([tenant.take.remote(0.6) for tenant in here])
    greedy = _all([tenant.take.remote(0.6) for tenant in here[:1]])
    others = _all([tenant.take.remote(0.1) for tenant in here[1:]])
    for tenant in tenants:
        ray.kill(tenant)
    return Tenancy(
        share=share,
        wanted=fractions[0][1] if here else 0.0,
        fractions=[fraction for fraction, _ in fractions],
        modest=modest,
        greedy=greedy[0] if here else "",
        others=others,
    )


def _fault(node: Node, worker: Any, device: str) -> Finding:
    """A training that breaks its process, and a scheduler that has to cope with that."""
    plan = make_plan(parse_space(FAULT_SPACE, "fault", "fault"), Options()).on(device)
    graph, rows = load(plan.graphs[0], plan.settings.preprocessing), list[Any]()
    scheduler = Scheduler(plan, {graph.name: graph.hash}, rows.extend, Asha)
    sent, losses = ray.put(graph), list[str]()
    while (given := scheduler.assign(ticket := f"{len(rows)} rows")) is not None:
        scheduler.started(ticket)
        answer = worker.work.remote(given, sent, device, breaks=not losses)
        try:
            scheduler.receive(ticket, ray.get(answer, timeout=ANSWER), node.id)
        except ray.exceptions.RayError as error:
            losses.append(_last_line(error))
            ray.kill(worker)
            worker = _on(node, Examiner, 1)
            scheduler.lose(ticket, losses[-1])
    ray.kill(worker)
    failed = [row.error for row in rows if getattr(row, "state", "") == "failed"]
    return judge_fault(losses, failed, scheduler.state)


def _on(node: Node, kind: type, gpus: float, *given: Any) -> Any:
    """An actor on a machine, with a share of one of its devices."""
    pinned = NodeAffinitySchedulingStrategy(node.id, soft=False)
    actor: Any = ray.remote(num_cpus=0, num_gpus=gpus, max_restarts=0)(kind)
    return actor.options(scheduling_strategy=pinned).remote(*given)


def _all(answers: Sequence[Any]) -> list[Any]:
    return list(ray.get(list(answers), timeout=ANSWER))


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1][:500]
