"""What trained weights tell of the frequencies that a backbone lets through."""

from collections.abc import Mapping

import numpy as np

from clar_tune.engine.arrays import Floats


def facts_of(backbone: str, weights: Mapping[str, Floats]) -> dict[str, float]:
    r"""GPR's weights :math:`\gamma_k`; products :math:`\langle W_k, W_j \rangle_F` of cheby."""
    if backbone == "gpr":
        return {f"gamma_{k}": float(gamma) for k, gamma in enumerate(weights["gamma"])}
    return _products(weights) if backbone == "cheby" else {}


def _products(weights: Mapping[str, Floats]) -> dict[str, float]:
    layers: dict[str, list[Floats]] = {}
    for name, values in weights.items():  # layers.0.weights.0, layers.0.weights.1 …
        _, layer, kind, *_ = name.split(".")
        if kind == "weights":
            layers.setdefault(layer, []).append(values.ravel())
    return {
        f"gram_layer_{layer}_{k}_{j}": float(np.dot(own[k], own[j]))
        for layer, own in layers.items()
        for k in range(len(own))
        for j in range(k, len(own))
    }
