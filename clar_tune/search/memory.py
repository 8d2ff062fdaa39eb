"""How much memory trainings on a graph may take, judged by its size before any has run.

A rough bound from above of what one worker's process adds to a machine, all its arrays counted
with generous copies. It decides how many trainings share a machine, and no number of a result.
"""

from collections.abc import Iterable, Mapping

from clar_tune.graphs import VARIANTS, Graph
from clar_tune.models import BACKBONES, MAP_BYTES
from clar_tune.records import Value
from clar_tune.search.sizes import Size
from clar_tune.space import Plan, Range, StudyPlan
from clar_tune.training import side_by_side

MIB = 2**20

PROCESS = 320 * MIB
"""A worker without a graph; what it maps from files is shared by all workers of a machine."""

GPU_PROCESS = 1024 * MIB
"""What a process that uses a GPU takes of the host besides."""

NATIVE_PROCESS = 96 * MIB
"""What compiled programs, and numba which loads them, add to a worker."""

STEP = 512 * MIB
"""Needs are rounded up, so that small graphs ask for the same and workers are reused."""


def needs(plan: Plan, graphs: Iterable[Graph], gpus: float = 0.0) -> dict[str, int]:
    """Bytes that a training on each graph may take, whatever its method."""
    return needs_of_sizes(plan, {graph.name: Size.of(graph) for graph in graphs}, gpus)


def needs_of_sizes(plan: Plan, sizes: Mapping[str, Size], gpus: float = 0.0) -> dict[str, int]:
    """The same for graphs of which no more than the size is known."""
    found = {}
    for name, size in sizes.items():
        own = [study for study in plan.studies if study.columns.graph == name]
        most = max((bytes_of(size, study) for study in own), default=0)
        native = any(study.engine == "native" for study in own)
        process = PROCESS + (GPU_PROCESS if gpus else 0) + (NATIVE_PROCESS if native else 0)
        total = process + most
        found[name] = -(-total // STEP) * STEP
    return found


def bytes_of(size: Size, study: StudyPlan) -> int:
    """What the largest configuration of a study may add to its process."""
    variants = [VARIANTS[name] for name in study.variant]
    spectral = any(variant.spectral for variant in variants)
    kept = _graph(size, dense=spectral or study.method.backbone not in BACKBONES)
    beside = side_by_side(study.engine, study.method.backbone, study.threads, size.stored)
    total = kept + beside * (_network(size, study) + _sampling(size, study))
    if variants:  # several are kept; all frequencies of a graph are dense matrices
        total += 3 * kept + (32 * size.nodes**2 if spectral else 0)
    return total


def _graph(size: Size, *, dense: bool) -> int:
    """Edges as index and as matrices, features with their transpose and what dropout leaves."""
    x = 16 * size.nodes * size.features if dense else 64 * size.entries
    return x + 200 * size.edges + 64 * size.nodes


def _network(size: Size, study: StudyPlan) -> int:
    """Weights with gradients, moments and the best so far; what each layer keeps of each node."""
    heads, layers = _largest(study, "heads", 1), _largest(study, "layers", 2)
    powers = 1 + _largest(study, "K", 0)
    width = _largest(study, "hidden", 32) * heads + size.outputs
    weights = 24 * width * (size.features + (layers - 1) * width) * powers
    kept = 4 * (4 + 2 * powers) * size.nodes * width * layers
    # Torch keeps weights, scores and what goes back of each; compiled code a bit of a mask.
    each = layers if study.engine == "native" else 100 + 16 * layers
    attention = each * (size.edges + size.nodes) * heads if heads > 1 else 0
    return weights + kept + attention


def _sampling(size: Size, study: StudyPlan) -> int:
    """Drawn pairs, and a bit map of all pairs to draw them by."""
    if study.method.regularizer == "none":
        return 0
    by_node = study.method.regularizer == "clar" and "edge" not in _possible(study, "sampling")
    starts = size.nodes if by_node else size.edges + size.nodes
    pairs = starts * _largest(study, "samples", 1)
    return min(size.nodes**2 // 8, MAP_BYTES) + 160 * pairs


def _largest(study: StudyPlan, name: str, usual: int) -> int:
    """The largest value that a parameter may have in a study."""
    numbers = [value for value in _possible(study, name) if isinstance(value, int | float)]
    return int(max(numbers, default=usual))


def _possible(study: StudyPlan, name: str) -> list[Value]:
    """The values that a parameter may have in a study; of a range its end."""
    domain = next((p.domain for p in study.parameters if p.name == name), None)
    if domain is None:
        return [study.method.parameters().get(name)]
    return [domain.high] if isinstance(domain, Range) else list(domain.values)
