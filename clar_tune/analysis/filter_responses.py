"""Learned filters: how strongly a trained gpr or cheby lets each frequency through."""

import re
from collections.abc import Mapping

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray

Real = NDArray[np.float64]

_GAMMA = re.compile(r"gamma_(\d+)")
_GRAM = re.compile(r"gram_layer_(\d+)_(\d+)_(\d+)")


def responses(facts: Mapping[str, float], eigenvalues: Real) -> dict[str, Real]:
    """The responses that a record's facts tell of, by name; none for most backbones.

    gpr has one, ``filter``; cheby has one for each layer, ``layer 1`` first, as the layers have
    a non-linearity between them and there is no response of the whole. Each is :func:`scaled`, so
    that the one of ``eigenvalues`` that passes best has 1.
    """
    gamma, grams = _gamma(facts), _grams(facts)
    found = {"filter": gpr_response(gamma, eigenvalues)} if len(gamma) else {}
    for layer, gram in grams.items():
        found[f"layer {layer + 1}"] = cheby_response(gram, eigenvalues)
    return {name: scaled(response) for name, response in found.items()}


def gpr_response(gamma: Real, eigenvalues: Real) -> Real:
    r"""What gpr multiplies each frequency with.

    .. math:: g(\lambda) = \sum_k \gamma_k (1 - \lambda)^k

    The eigenvalues are those of the Laplacian with self-loops,
    :math:`I - \hat D^{-1/2} (A + I) \hat D^{-1/2}`.
    """
    return (1 - eigenvalues)[:, None] ** np.arange(len(gamma)) @ gamma


def cheby_response(gram: Real, eigenvalues: Real) -> Real:
    r"""How much one layer of cheby makes of each frequency, over all pairs of features.

    .. math:: \Big\lVert \sum_k T_k(\lambda - 1) W_k \Big\rVert_F
              = \sqrt{t^\top G t}, \qquad t_k = T_k(\lambda - 1), \quad
              G_{kl} = \langle W_k, W_l \rangle_F

    The eigenvalues are those of the Laplacian without self-loops. A node without edges passes
    as the frequency 1 does, since cheby has no edge to see it by.
    """
    terms = chebvander(eigenvalues - 1, len(gram) - 1)  # [values, K + 1]
    squares = np.einsum("vk,kl,vl->v", terms, gram, terms)
    result: Real = np.sqrt(squares.clip(min=0))  # never negative but for rounding
    return result


def scaled(response: Real) -> Real:
    """Divided by its largest value in size, which becomes 1; a response of zeros stays.

    A response and its negative are the same filter, as the layers before it may turn signs too.
    """
    largest = response[np.abs(response).argmax()]
    return response / largest if largest else response


def _gamma(facts: Mapping[str, float]) -> Real:
    found = {int(match[1]): facts[name] for name in facts if (match := _GAMMA.fullmatch(name))}
    return np.array([found[k] for k in sorted(found)])


def _grams(facts: Mapping[str, float]) -> dict[int, Real]:
    """The products of each layer as a symmetric matrix, by the layer's number from 0."""
    entries: dict[int, dict[tuple[int, int], float]] = {}
    for name, value in facts.items():
        if match := _GRAM.fullmatch(name):
            layer, k, j = map(int, match.groups())
            entries.setdefault(layer, {})[k, j] = value
    return {layer: _symmetric(entries[layer]) for layer in sorted(entries)}


def _symmetric(entries: dict[tuple[int, int], float]) -> Real:
    order = max(max(place) for place in entries)
    matrix = np.zeros((order + 1, order + 1))
    for (k, j), value in entries.items():
        matrix[k, j] = matrix[j, k] = value
    return matrix
