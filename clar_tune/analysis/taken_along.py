"""The winner of a study with all that trains it again, from the store alone."""

from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.configuration import Configuration, Pair
from clar_tune.errors import StoreError
from clar_tune.seeds import seed_for
from clar_tune.space import TrainingRules, stored_preprocessing


def configuration_of(run: RunView, study: StudyView) -> Configuration:
    """The configuration of a study's winner, and the pairs of its finals so far."""
    if study.best is None:
        raise StoreError(
            f"{run.name} has no winner yet for {study.method} on {study.graph}. Finish it with "
            f"`clar-tune resume {run.name}`."
        )
    row, options, usual = run.row, run.options, TrainingRules()
    rules = {
        name: run.budget.get(name, getattr(usual, name))
        for name in ("max_epochs", "patience", "warmup", "select", "stop", "optimizer")
    }
    return Configuration(
        run=run.name,
        trial=study.best.trial,
        graph=study.graph,
        graph_hash=row.graph_hashes.get(study.graph, ""),
        preprocessing=stored_preprocessing(row.space_text, row.settings, run.name),
        method=study.method,
        condition=study.condition,
        protocol=study.protocol,
        metric=study.metric,
        params=study.best.params,
        **rules,
        engine=study.planned.engine,
        threads=options.get("threads", 1),
        outer_test=options.get("outer_test", 0.0),
        seed=seed_for("search", row.seed, study.search) if study.search else row.seed,
        purpose="final",
        numbers=row.numbers,
        repeats=study.best.repeats,
        val_score=study.best.val_score,
        pairs=tuple(
            Pair(
                number=final.repeat,
                split_seed=final.split_seed,
                init_seed=final.init_seed,
                val_score=final.val_score,
                test_score=final.test_score,
            )
            for final in study.finals
        ),
    )
