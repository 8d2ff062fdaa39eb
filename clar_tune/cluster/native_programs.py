"""What the native engine needs: machines that can run programs, programs, and words where not."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from clar_tune.cluster.pinned_tasks import task_on
from clar_tune.cluster.resources import Node
from clar_tune.errors import ClusterError
from clar_tune.search import Size
from clar_tune.space import Plan, StudyPlan
from clar_tune.training import choose_engine, no_programs_here

UNUSABLE = (
    "{folder} cannot be written to, or others can: each worker compiles its programs anew. Make "
    "it a folder that only you can write to."
)

ANSWER = 120.0
"""Seconds that a machine has to say whether it can run programs: a process has to start there."""

Tell = Callable[[str], None]

Causes = Mapping[str, str]
"""What keeps machines, by their ids, from running programs; those that can are not in it."""


def unable_to_run(
    plan: Plan, nodes: Sequence[Node], ask: Callable[[Sequence[Node]], Causes] | None = None
) -> dict[str, str]:
    """Machines of a cluster, by their ids, that cannot do what a plan's studies say, and why.

    They get no jobs. If no machine is left, the run is refused before it begins. ``ask`` asks
    them; by default through Ray.
    """
    trainers = [node for node in nodes if node.cpus]
    if not trainers or not list(_native(plan)):
        return {}
    unable = dict((ask or _asked)(trainers))
    if len(unable) == len(trainers):
        told = "; ".join(f"{node.name}: {unable[node.id]}" for node in trainers)
        raise ClusterError(
            f"the run trains by compiled programs, which no machine can run: {told}. Install "
            "there what is installed here (`clar-tune doctor --address` compares), or give "
            "--engine torch to a new run."
        )
    return unable


def _asked(nodes: Sequence[Node]) -> Causes:
    """A machine that does not answer counts as able: a worker there would find out itself."""
    import ray

    answers = {task_on(node.id, no_programs_here): node.id for node in nodes}
    ready, _ = ray.wait(list(answers), num_returns=len(answers), timeout=ANSWER)
    told = {answers[answer]: _told(answer) for answer in ready}
    return {node: cause for node, cause in told.items() if cause is not None}


def _told(answer: Any) -> str | None:
    """What a machine said; an error there is a cause too, as of an installation that differs."""
    import ray

    try:
        return cast("str | None", ray.get(answer))
    except ray.exceptions.RayTaskError as error:
        return f"it cannot be asked ({error.cause})"
    except ray.exceptions.RayError:
        return None


@contextmanager
def compiling_programs(
    plan: Plan, sizes: Mapping[str, Size], say: Tell, note: Tell
) -> Iterator[Callable[[], None]]:
    """Compile what the plan's trainings on this machine need and nobody has compiled here yet.

    The body goes on meanwhile, and is given what waits for the last. On large graphs those with
    several threads have a program of their own, ``gcn-shared``. ``sizes`` are those of the graphs
    that are trained on; ``note`` is told what takes time, ``say`` what is wrong. Other machines
    of a cluster do it with their first job.
    """
    studies = list(_native(plan))
    if not studies:
        yield _nothing
        return
    from clar_tune.engine import (
        cache_folder,
        compilation,
        may_use_cache,
        name_of,
        team_size,
        uncompiled,
    )

    def name(study: StudyPlan) -> str:
        stored = sizes[study.columns.graph].varied(study.variant).stored
        backbone = study.columns.backbone
        return name_of(backbone, team_size(backbone, study.threads, stored))

    left = (study for study in studies if study.columns.graph in sizes)
    missing = uncompiled(dict.fromkeys(map(name, left)))
    if missing and not may_use_cache():
        say(UNUSABLE.format(folder=cache_folder()))
        missing = []
    elif missing:
        note(f"compiling {', '.join(missing)} for this machine, which is done once")
    with compilation(missing) as finish:
        yield finish


def _nothing() -> None:
    """There is nothing to wait for."""


def engine_remarks(plan: Plan) -> list[str]:
    """What torch trains, though another engine was asked for, and why."""
    methods: dict[str, list[str]] = {}
    for study in plan.studies:
        reason = _refusal(study)
        if reason and study.engine == "torch":
            methods.setdefault(reason, []).append(study.columns.method)
    return [
        f"torch trains {', '.join(dict.fromkeys(own))}, not the native engine: {reason}"
        for reason, own in methods.items()
    ]


def _refusal(study: StudyPlan) -> str | None:
    asked = study.training
    return choose_engine(
        asked.engine, study.method, study.metric, asked.select, study.device
    ).reason


def _native(plan: Plan) -> Iterable[StudyPlan]:
    return (study for study in plan.studies if study.engine == "native")
