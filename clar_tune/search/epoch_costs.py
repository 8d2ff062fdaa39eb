r"""How long an epoch takes and how many a training has, by a table that was measured once.

An epoch of a backbone takes :math:`\sum_t c_t w_t`: its work :math:`w_t` in terms that follow
from the sizes of graph and network, times nanoseconds :math:`c_t` that
``benchmarks/epoch_costs.py`` has fitted; a regularizer adds a sum of its own. The table is that
of one machine; what other machines make of it is one factor, which a probe measures.
"""

import json
import math
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from clar_tune.models import BACKBONES, REGULARIZERS, Method
from clar_tune.records import Params
from clar_tune.search.sizes import Size
from clar_tune.space import TrainingRules

NEAREST = "gcn"
"""The backbone by whose costs a user's own is judged where it cannot be tried."""

Work = dict[str, float]


def seconds_per_epoch(method: Method, params: Params, size: Size) -> float:
    """What an epoch takes on the machine of the table; ``params`` are complete."""
    backbone, regularizer = _known(method)
    kind = "random" if is_random(params) else "still"
    spent = _spent(_table()["backbones"][backbone][kind], work(backbone, params, size))
    added = _table()["regularizers"].get(regularizer, {})
    return 1e-9 * (spent + _spent(added, added_work(regularizer, params, size)))


def epochs(method: Method, params: Params, rules: TrainingRules) -> float:
    """Epochs until a training stops by itself: the selected one by the table, then patience."""
    backbone, _ = _known(method)
    by_rate = {float(rate): float(n) for rate, n in _table()["selected"][backbone].items()}
    selected = _between(by_rate, float(params["lr"]))  # type: ignore[arg-type]
    once = min(rules.max_epochs, max(rules.warmup, selected + rules.patience))
    return once * _number(params, "rounds", 1)


def is_random(params: Params) -> bool:
    """Whether a network drops inputs: it draws them, and has two passes instead of one."""
    return any(_number(params, name, 0) for name in ("dropout", "attention_dropout"))


def work(backbone: str, params: Params, size: Size) -> Work:
    """What a network computes in a pass, each kind of work in its own unit."""
    layers, heads = int(_number(params, "layers", 2)), int(_number(params, "heads", 1))
    powers = int(_number(params, "K", 0))
    mapped = powers + 1 if backbone == "cheby" else 1  # products with weights in each layer
    inner = int(_number(params, "hidden", 32)) * heads
    widths = [*[inner] * (layers - 1), size.outputs]
    joined = size.edges + size.nodes
    products = sum(before * after for before, after in pairwise(widths))
    first = size.features * widths[0]
    moved = {"mlp": 0, "gpr": powers * size.outputs, "cheby": powers * sum(widths)}
    return {
        "epoch": 1,
        "calls": layers * mapped + (powers if backbone == "gpr" else 0),
        "entries": size.entries,
        "features": 0 if size.dense else size.entries * widths[0] * mapped,
        "weights": (first + products) * mapped,
        "products": size.nodes * (products + (first if size.dense else 0)) * mapped,
        "nodes": size.nodes * sum(widths) * mapped,
        "edges": joined * moved.get(backbone, sum(widths)),
        "attention": joined * (heads * (layers - 1) + 1) if backbone == "gat" else 0,
    }


def added_work(regularizer: str, params: Params, size: Size) -> Work:
    """What a regularizer computes in an epoch besides."""
    joined, pairs = size.edges + size.nodes, 0.0
    weights = [name for name in ("alpha", "weight") if name in params]
    idle = bool(weights) and not any(_number(params, name, 0) for name in weights)
    # Another graph in each epoch needs a second pass, which a network that drops has anyway.
    again = regularizer == "dropedge" and not is_random(params)
    if regularizer == "clar" and _number(params, "beta", 1):
        by_node = params.get("sampling", "node") == "node"
        pairs = (size.nodes if by_node else 2 * size.edges) * _number(params, "samples", 1)
    return {
        "epoch": float(not idle or bool(pairs)),
        "nodes": 0.0 if idle else size.nodes * size.outputs,
        "edges": 0.0 if idle else joined,
        "smoothing": 0.0 if idle else joined * size.outputs,
        "pairs": pairs,
        "sharpening": pairs * size.outputs,
        "near": 0.0 if idle else min(size.nodes**2, 2e6),
        "again": (size.entries + joined) * _number(params, "hidden", 32) if again else 0.0,
    }


def _known(method: Method) -> tuple[str, str]:
    """The names by which the table knows a method, or the nearest that it has."""
    return (
        method.backbone if method.backbone in BACKBONES else NEAREST,
        method.regularizer if method.regularizer in REGULARIZERS else "nl",
    )


def _spent(costs: Mapping[str, float], done: Work) -> float:
    return sum(cost * done[term] for term, cost in costs.items())


def _number(params: Params, name: str, usual: float) -> float:
    value = params.get(name)
    return float(value) if isinstance(value, int | float) else usual


def _between(points: Mapping[float, float], at: float) -> float:
    """The value at a place between points, straight on logarithmic axes; beyond them the last."""
    places = sorted(points)
    at = min(max(at, places[0]), places[-1])
    for low, high in pairwise(places):
        if at <= high:
            share = math.log(at / low) / math.log(high / low)
            return float(points[low] ** (1 - share) * points[high] ** share)
    return points[places[-1]]


@cache
def _table() -> Any:
    return json.loads(Path(__file__).with_suffix(".json").read_text())
