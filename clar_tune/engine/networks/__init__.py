"""Backbones: how what a layer has mapped spreads over the graph, and the gradient of that."""

from typing import Any

from numba.extending import overload

from clar_tune.engine.compiling import SETTINGS
from clar_tune.engine.networks import cheby, gat, gcn, gpr, mlp, sage

KINDS: dict[type, Any] = {
    mlp.Mlp: mlp,
    gcn.Gcn: gcn,
    sage.Sage: sage,
    cheby.Cheby: cheby,
    gpr.Gpr: gpr,
    gat.Gat: gat,
}


def propagate(
    network: Any,
    layers: Any,
    layer: Any,
    weights: Any,
    z: Any,
    rows: Any,
    out: Any,
    epoch: Any,
) -> None:
    r"""Some rows of :math:`P(Z) + b`, for Z = X W of all nodes; epoch 0 evaluates."""


def propagate_back(
    network: Any,
    layers: Any,
    layer: Any,
    weights: Any,
    z: Any,
    g: Any,
    gradient: Any,
    dz: Any,
) -> None:
    r"""From the gradient g of a layer's output that of Z; those of its other weights are added."""


def _by_type(name: str, stub: Any) -> None:
    @overload(stub, jit_options=SETTINGS, strict=False)  # type: ignore[untyped-decorator]
    def choose(network: Any, *_: Any) -> Any:
        chosen = getattr(KINDS[network.instance_class], name)
        return lambda network, layers, layer, weights, a, b, c, d: chosen(
            network, layers, layer, weights, a, b, c, d
        )


_by_type("forward", propagate)
_by_type("backward", propagate_back)
