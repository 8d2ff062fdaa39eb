"""What the native engine needs of a driver: its programs, and a word where torch takes over."""

from collections.abc import Callable, Iterable

from clar_tune.space import Plan, StudyPlan
from clar_tune.training import choose_engine

UNUSABLE = (
    "{folder} cannot be written to, or others can: each worker compiles its programs anew. Make "
    "it a folder that only you can write to."
)


def compile_programs(plan: Plan, say: Callable[[str], None]) -> None:
    """Compile what the plan's trainings on this machine need and nobody has compiled here yet.

    ``say`` is told if that takes time. Other machines of a cluster do it with their first job.
    """
    backbones = list(dict.fromkeys(s.columns.backbone for s in _native(plan)))
    if not backbones:
        return
    from clar_tune.engine import cache_folder, compile_all, may_use_cache, uncompiled

    if not may_use_cache():
        say(UNUSABLE.format(folder=cache_folder()))
        return
    missing = uncompiled(backbones)
    if missing:
        say(f"compiling {', '.join(missing)} for this machine, which is done once")
        compile_all(missing)


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
