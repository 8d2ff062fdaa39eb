"""On which device a run trains: decided once, before it starts, and tested if nobody has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from clar_tune.cluster.pinned_tasks import task_on
from clar_tune.cluster.resources import Node
from clar_tune.device_check import (
    DeviceFacts,
    Finding,
    device_facts,
    examine_methods,
    reported,
)
from clar_tune.errors import ClusterError, ParameterError
from clar_tune.space import Plan
from clar_tune.training import CONTEXT, memory_fraction

ANSWER = 300.0
"""Seconds that machines have to say what their devices are, or to test one."""

WITHOUT_GPU = (
    "trials asked for a GPU, and torch sees none on any machine: they train on processors "
    "(`clar-tune doctor --address` tells more)"
)

STAYS = (
    "trials asked for a GPU, and torch saw none when the run began: they go on on processors, as "
    "a run trains in one place"
)

Seen = Mapping[str, Sequence[DeviceFacts]]
"""The devices that torch sees on each machine, by its id; none where it sees none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """Where a run trains."""

    device: str
    """``cpu`` or ``cuda``: part of every specification."""
    context: int = CONTEXT
    """Bytes that each process takes of a GPU besides its tensors."""
    blind: Mapping[str, str] = field(default_factory=dict)
    """Machines, by their ids, that cannot train there, with the cause."""
    remarks: Sequence[str] = ()
    """What the user should read."""


def resolve_devices(
    plan: Plan,
    nodes: Sequence[Node],
    share: float,
    see: Callable[[Sequence[Node]], Seen] | None = None,
    test: Callable[[Node, int, Sequence[str]], Sequence[Finding]] | None = None,
) -> Devices:
    """Where a plan is trained; one that began somewhere stays there.

    ``see`` and ``test`` ask machines; by default through Ray. A device of which there is no
    report is tested with the plan's own methods. What cannot be trusted is refused.
    """
    began = plan.options.device or (None if plan.options.gpus else "cpu")
    if not share and began == "cuda":
        raise ParameterError(
            "the run trains on GPUs, and trials would get none. Give --gpus-per-trial."
        )
    having = [node for node in nodes if node.gpus] if share and began != "cpu" else []
    if not having:
        stays = share and began == "cpu" and plan.options.gpus
        return Devices(device=began or "cuda", remarks=[STAYS] if stays else [])
    seen = (see or _seen)(having)
    if not any(seen.values()):
        if began == "cuda":
            raise ClusterError(
                "the run trains on GPUs, and torch sees none on any machine. Mend the machines "
                "(`clar-tune doctor --gpu`), or start a new run."
            )
        return Devices(device="cpu", remarks=[WITHOUT_GPU])
    remarks, context = _trusted(plan, having, seen, share, test or _tested)
    cause = "Ray promises a GPU there, and torch sees none"
    return Devices(
        device="cuda",
        context=context,
        blind={node.id: cause for node in having if not seen.get(node.id)},
        remarks=remarks,
    )


def _trusted(
    plan: Plan,
    nodes: Sequence[Node],
    seen: Seen,
    share: float,
    test: Callable[[Node, int, Sequence[str]], Sequence[Finding]],
) -> tuple[list[str], int]:
    """What is to be said of the devices, and the largest context on one."""
    methods = sorted({study.method.name for study in plan.studies})
    known: dict[tuple[str, ...], int] = {}
    remarks = []
    for node in nodes:
        for number, facts in enumerate(seen.get(node.id, ())):
            if facts.identity not in known:
                report = reported(facts)
                known[facts.identity] = facts.context if report is None else report.facts.context
                memory_fraction(share, facts.memory, known[facts.identity])
                if report is None or not report.ok:
                    remarks.append(_remark(facts, test(node, number, methods)))
    return remarks, max(known.values(), default=CONTEXT)


def _remark(facts: DeviceFacts, findings: Sequence[Finding]) -> str:
    """What a short test came to; an error if a device computes something else."""
    wrong = [finding.found for finding in findings if not finding.ok]
    if wrong:
        raise ClusterError(f"{facts.name} cannot be trusted: {'; '.join(wrong)}")
    return (
        f"{facts.name} has no good report of `clar-tune doctor --gpu`: tested for this run's "
        f"methods alone ({findings[-1].found})"
    )


def _seen(nodes: Sequence[Node]) -> Seen:
    import ray

    asked = {node.id: task_on(node.id, _facts_here) for node in nodes}
    found = {}
    for name, answer in asked.items():
        try:
            found[name] = ray.get(answer, timeout=ANSWER)
        except ray.exceptions.RayError:
            found[name] = []
    return found


def _tested(node: Node, number: int, methods: Sequence[str]) -> Sequence[Finding]:
    import ray

    try:
        _, findings = ray.get(
            task_on(node.id, examine_methods, f"cuda:{number}", methods), timeout=ANSWER
        )
    except ray.exceptions.RayError as error:
        text = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        return [Finding(check="device", ok=False, found=text)]
    return list(findings)


def _facts_here() -> list[DeviceFacts]:
    """All devices of a machine: a task that asks for none sees every one."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [device_facts(torch.device("cuda", number)) for number in range(count)]
