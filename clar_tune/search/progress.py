"""How far the studies of a run at work are, as plain numbers."""

from clar_tune.records import StudyProgress
from clar_tune.search.scheduler import Scheduler
from clar_tune.search.study import StudyState


def studies_under_way(scheduler: Scheduler) -> tuple[StudyProgress, ...]:
    """Every study of a run."""
    return tuple(map(_study, scheduler.studies))


def _study(study: StudyState) -> StudyProgress:
    trials, planned, best = study.trials.values(), study.plan.planned, study.winner
    states = [trial.state for trial in trials]
    confirmed = study.finals.get(best.trial, {}) if best and study.ended else {}
    return StudyProgress(
        graph=planned.graph,
        method=planned.method,
        condition=planned.condition,
        metric=planned.metric,
        trials=len(states) if study.used_up else planned.trials,
        complete=states.count("complete"),
        pruned=states.count("pruned"),
        failed=states.count("failed"),
        running=len(study.running),
        repeats=sum(trial.repeats for trial in trials),
        repeats_of_ended=sum(trial.repeats for trial in trials if trial.state != "running"),
        most_repeats=planned.repeats,
        pruning=bool(planned.rungs),
        search_seconds=sum((trial.seconds for trial in trials), 0.0),
        best=study.trials[best.trial].val_score if best else None,
        finals=len(confirmed),
        finals_wanted=planned.finals,
        final_seconds=sum(confirmed.values(), 0.0),
        confirmed=study.confirmed,
    )
