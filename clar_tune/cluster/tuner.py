"""Runs on Tune: one ``tune.Tuner`` after the other, as Tune remembers every trial."""

import gc
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import ray
from ray import tune

from clar_tune.cluster.capacity import Capacity
from clar_tune.cluster.ray_internals import spare_starting_workers, withhold_credentials
from clar_tune.cluster.tune_hooks import FirstError, RunCallback, StudyScheduler, StudySearcher
from clar_tune.cluster.worker import Worker
from clar_tune.graphs import Graph
from clar_tune.search import Assignment, Scheduler

NODE_ID = "ray.io/node-id"
"""The label by which Ray's placement groups know machines apart."""


def search(
    scheduler: Scheduler,
    graphs: Mapping[str, ray.ObjectRef[Graph]],
    capacity: Capacity,
    scratch: str,
    tick: Callable[[], None],
) -> None:
    """Do everything that the scheduler hands out, and return when nothing is left.

    Tune's own files go to the folder ``scratch`` and are of no use to anyone: runs are resumed
    from the store. ``tick`` is called several times a second. An error of a hook is raised as
    it was.
    """
    withhold_credentials()
    spare_starting_workers()
    share, context = capacity.resources.gpus, capacity.context
    trainable = tune.with_parameters(Worker, graphs=dict(graphs), gpus=share, context=context)

    def request(config: dict[str, Any]) -> tune.PlacementGroupFactory:
        given: Assignment = config["assignment"]
        bundles = [capacity.asked(given.graph, alone=given.alone).request]
        if not given.avoid:
            return tune.PlacementGroupFactory(bundles)
        elsewhere = {NODE_ID: f"!in({', '.join(sorted(given.avoid))})"}
        return tune.PlacementGroupFactory(bundles, bundle_label_selector=[elsewhere])

    placed = tune.with_resources(trainable, request)
    while True:
        first_error = FirstError()
        searcher = StudySearcher(scheduler, capacity, first_error)
        hooks = Hooks(
            searcher,
            StudyScheduler(scheduler, first_error),
            RunCallback(scheduler, first_error, tick),
            first_error,
        )
        with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as folder:
            _fit(placed, hooks, folder)
        if not searcher.worn:
            return
        gc.collect()  # what Tune remembered holds on to itself


class Hooks(NamedTuple):
    """What Tune is given of ours."""

    searcher: StudySearcher
    scheduler: StudyScheduler
    callback: RunCallback
    first_error: FirstError


def _fit(trainable: Any, hooks: Hooks, folder: str) -> None:
    """Run one Tuner until it has nothing left to do, or has done enough."""
    tuner = tune.Tuner(
        trainable,
        tune_config=tune.TuneConfig(
            search_alg=hooks.searcher,
            scheduler=hooks.scheduler,
            num_samples=-1,
            reuse_actors=True,
            trial_dirname_creator=lambda trial: str(trial.trial_id),
        ),
        run_config=tune.RunConfig(
            name="search",
            storage_path=folder,
            callbacks=[hooks.callback],
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            failure_config=tune.FailureConfig(max_failures=0),
            verbose=0,
        ),
    )
    try:
        tuner.fit()
    except Exception:  # Tune rewords what hooks raise
        if hooks.first_error.error is not None:
            raise hooks.first_error.error from None
        if not hooks.first_error.over:
            raise
