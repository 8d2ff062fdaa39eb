"""How far the studies of a run at work are, as plain numbers."""

from clar_tune.records import StudyProgress
from clar_tune.search.scheduler import Scheduler
from clar_tune.search.study import StudyState


def studies_under_way(scheduler: Scheduler) -> tuple[StudyProgress, ...]:
    """Every study of a run."""
    return tuple(map(_study, scheduler.studies))


def _study(study: StudyState) -> StudyProgress:
    planned, best, over = study.plan.planned, study.winner, study.over
    running = [study.trials[number] for number in study.running]
    finals = study.finals.seconds
    return StudyProgress(
        graph=planned.graph,
        method=planned.method,
        condition=planned.condition,
        metric=planned.metric,
        trials=study.asked if study.used_up else study.budget,
        complete=over.states["complete"],
        pruned=over.states["pruned"],
        failed=over.states["failed"],
        running=len(running),
        repeats=over.repeats + sum(trial.repeats for trial in running),
        repeats_of_ended=over.repeats,
        most_repeats=planned.repeats,
        pruning=bool(planned.rungs),
        search_seconds=over.seconds + sum(trial.seconds for trial in running),
        best=study.trials[best.trial].val_score if best else None,
        finals=len(finals),
        finals_wanted=study.finals.wanted,
        final_seconds=sum(finals, 0.0),
        confirmed=study.confirmed,
    )
