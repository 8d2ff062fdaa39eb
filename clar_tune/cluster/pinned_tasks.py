"""Questions to one machine of a cluster."""

from collections.abc import Callable
from typing import Any


def task_on(node: str, work: Callable[..., Any], *given: Any) -> Any:
    """The answer to come of a function that runs on the machine with this id.

    It runs in a process that serves no trial later, as one that has loaded torch with all GPUs in
    sight must not.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    pinned = NodeAffinitySchedulingStrategy(node, soft=False)
    task: Any = ray.remote(num_cpus=0, max_calls=1, max_retries=0)(work)
    return task.options(scheduling_strategy=pinned).remote(*given)
