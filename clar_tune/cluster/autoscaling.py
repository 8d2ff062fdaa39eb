"""What a cluster's autoscaler may still start.

Ray tells nobody which types of machines an autoscaler knows. But its configuration lies on the
head, and Ray's launcher has written the resources of every type into it.
"""

import math
from typing import Any

import ray
import yaml
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from clar_tune.cluster.capacity import Growth
from clar_tune.cluster.ray_internals import autoscaler_file, is_head
from clar_tune.cluster.resources import Node

ANSWER = 60.0
"""Seconds within which the head must answer; it may have to start a process first."""


def growth() -> Growth:
    """Machines that the autoscaler of this cluster may start; none without an autoscaler."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    head = [node for node in nodes if node["Alive"] and is_head(node)]
    if not head:
        return Growth()
    context = ray.get_runtime_context()
    if head[0]["NodeID"] == context.get_node_id():
        return growth_from(configuration(context.gcs_address))
    there = NodeAffinitySchedulingStrategy(head[0]["NodeID"], soft=False)
    read = ray.remote(configuration).options(num_cpus=0, scheduling_strategy=there)
    try:
        return growth_from(ray.get(read.remote(context.gcs_address), timeout=ANSWER))
    except ray.exceptions.RayError:  # a run needs no autoscaler
        return Growth()


def configuration(cluster: str) -> dict[str, Any]:
    """Node types and their limits, as the autoscaler of a cluster with its head here was told."""
    file = autoscaler_file(cluster)
    if file is None:
        return {}
    try:
        content = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError):
        return {}
    names = ("max_workers", "head_node_type", "available_node_types")
    return {name: content.get(name) for name in names}


def growth_from(content: dict[str, Any]) -> Growth:
    """What a launcher's configuration allows."""
    types = content.get("available_node_types") or {}
    most = int(content.get("max_workers") or 0)
    found = [
        (_node(name, kind.get("resources") or {}), int(kind.get("max_workers", most)))
        for name, kind in types.items()
        if name != content.get("head_node_type")
    ]
    return Growth(tuple((node, count) for node, count in found if count > 0), most)


def _node(name: str, resources: dict[str, Any]) -> Node:
    return Node(
        cpus=float(resources.get("CPU", 0)),
        gpus=float(resources.get("GPU", 0)),
        memory=float(resources.get("memory", math.inf)),
        name=name,
    )
