"""One ``tune.Tuner`` for a whole run."""

from collections.abc import Callable, Mapping

import ray
from ray import tune

from clar_tune.conductor import Conductor
from clar_tune.graph import Graph
from clar_tune.resources import Resources
from clar_tune.search.hooks import Failsafe, RunCallback, StudyScheduler, StudySearcher
from clar_tune.search.worker import Worker


def search(
    conductor: Conductor,
    graphs: Mapping[str, ray.ObjectRef[Graph]],
    resources: Resources,
    scratch: str,
    tick: Callable[[], None],
) -> None:
    """Do everything that the conductor hands out, and return when nothing is left.

    Tune's own files go to the folder ``scratch`` and are of no use to anyone: runs are resumed
    from the store. ``tick`` is called several times a second. An error of a hook is raised as
    it was.
    """
    failsafe = Failsafe()
    trainable = tune.with_parameters(Worker, graphs=dict(graphs), gpus=resources.gpus)
    request = {"CPU": resources.cpus, "GPU": resources.gpus}
    tuner = tune.Tuner(
        tune.with_resources(trainable, {k: v for k, v in request.items() if v}),
        tune_config=tune.TuneConfig(
            search_alg=StudySearcher(conductor, failsafe),
            scheduler=StudyScheduler(conductor, failsafe),
            num_samples=-1,
            max_concurrent_trials=conductor.pace.workers,
            reuse_actors=True,
            trial_dirname_creator=lambda trial: str(trial.trial_id),
        ),
        run_config=tune.RunConfig(
            name="search",
            storage_path=scratch,
            callbacks=[RunCallback(conductor, failsafe, tick)],
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            failure_config=tune.FailureConfig(max_failures=0),
            verbose=0,
        ),
    )
    try:
        tuner.fit()
    except Exception:  # Tune rewords what hooks raise
        if failsafe.error is not None:
            raise failsafe.error from None
        if not failsafe.over:
            raise
