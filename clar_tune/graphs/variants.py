"""Variants of a graph that a condition may name beside a method's parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from clar_tune.errors import ParameterError
from clar_tune.graphs.graph import Graph, hash_of_origin
from clar_tune.graphs.spectrum import FULL_SPECTRUM_NODES, Spectrum, spectrum_of
from clar_tune.graphs.thread_count import threads
from clar_tune.records import Value
from clar_tune.seeds import seed_for
from clar_tune.validation import fraction, one_of, whole

BANDS = 10
SIGNALS = 32

Decompose = Callable[[Graph], Spectrum]
Make = Callable[[Graph, Any, int, Decompose], Graph]

FILTERS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "low-pass": lambda x: np.exp(-10 * x**2),
    "high-pass": lambda x: 1 - np.exp(-10 * x**2),
    "band-pass": lambda x: np.exp(-10 * (x - 1) ** 2),
    "band-rejection": lambda x: 1 - np.exp(-10 * (x - 1) ** 2),
}
"""What a filter makes of each eigenvalue of the normalised Laplacian."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to change a graph."""

    definition: str
    check: Callable[[Any], object]
    """Refuses a value that makes no sense."""
    make: Make
    """The changed graph, from a graph, a value, a seed and a way to its spectrum."""
    drawn: bool = False
    """Whether the seed matters."""
    spectral: bool = False
    """Whether it needs all frequencies of the graph."""
    metric: str | None = None
    """What it is judged by; none: by what the graph is judged by."""
    neutral: Value = None
    """A value that leaves the graph as it is."""


def apply_variants(
    graph: Graph,
    variant: Mapping[str, Value],
    seed: int,
    decompose: Decompose = spectrum_of,
) -> Graph:
    """The graph with every variant applied, in the order of :data:`VARIANTS`.

    ``seed`` is that of the search: all methods, repeats and finals of a condition meet the same
    graph. ``decompose`` gives the spectrum of a graph.
    """
    check_variant(variant)
    for name, value in _changes(variant):
        made = VARIANTS[name].make(graph, value, seed, decompose)
        graph = replace(made, origin=_origin(graph.hash, name, value, seed))
    return graph


def varied_hash(graph_hash: str, variant: Mapping[str, Value], seed: int) -> str:
    """The hash of the graph that :func:`apply_variants` makes, without making it."""
    for name, value in _changes(variant):
        graph_hash = hash_of_origin(_origin(graph_hash, name, value, seed))
    return graph_hash


def _changes(variant: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """What is really changed, in the order of :data:`VARIANTS`."""
    given = [(name, variant[name]) for name in VARIANTS if name in variant]
    return [(name, value) for name, value in given if value != VARIANTS[name].neutral]


def _origin(graph_hash: str, name: str, value: Value, seed: int) -> str:
    """The graph and the recipe: eigenvectors differ in their last digits between machines."""
    drawn = f"/{seed}" if VARIANTS[name].drawn else ""
    return f"{graph_hash}/{name}={value}{drawn}"


def variant_of(condition: Mapping[str, Value]) -> dict[str, Value]:
    """The part of a condition that names variants of the graph."""
    return {name: value for name, value in condition.items() if name in VARIANTS}


def parameters_of(condition: Mapping[str, Value]) -> dict[str, Value]:
    """The part of a condition that fixes parameters of methods."""
    return {name: value for name, value in condition.items() if name not in VARIANTS}


def metric_of(variant: Mapping[str, Value], usual: str) -> str:
    """What a varied graph is judged by; ``usual`` is the metric of the graph itself."""
    own = [VARIANTS[name].metric for name in variant]
    return next((metric for metric in own if metric is not None), usual)


def check_variant(variant: Mapping[str, Value]) -> None:
    """Refuse names, values and combinations that make no sense."""
    for name, value in variant.items():
        VARIANTS[one_of("variant", name, VARIANTS)].check(value)
    if {"filter", "band"} <= set(variant):
        raise ParameterError("filter and band: both replace the features. Keep one of them.")


def check_size(variant: Mapping[str, Value], graph_name: str, nodes: int) -> None:
    """Refuse variants that need all frequencies of a graph that is too large for that."""
    spectral = [name for name in variant if VARIANTS[name].spectral]
    if spectral and nodes > FULL_SPECTRUM_NODES:
        raise ParameterError(
            f"{spectral[0]}: {graph_name} has {nodes:,} nodes, and all frequencies of a graph "
            f"are computed up to {FULL_SPECTRUM_NODES:,}. Choose a smaller graph."
        )


def signals(graph: Graph) -> NDArray[np.float32]:
    """Graph signals made of the features: their leading principal components, [N, 32].

    Components of feature *presence* (X > 0), each of mean 0 and variance 1: row-normalised
    features are so small that a network learns little but their mean. The sign of each is that
    of its largest entry.
    """
    present = (graph.features > 0).astype(np.float64)
    mean = np.asarray(present.mean(axis=0)).ravel()
    centred = LinearOperator(
        present.shape,
        matvec=lambda v: present @ v - mean @ v,
        rmatvec=lambda v: present.T @ v - np.multiply.outer(mean, v.sum(axis=0)),
        dtype=np.float64,
    )
    smaller = min(present.shape)
    # The start decides only how fast it converges; a fixed one gives equal digits every time.
    start = np.random.Generator(np.random.PCG64(0)).random(smaller)
    u, size, _ = svds(centred, k=min(SIGNALS, smaller - 1), v0=start)
    u = u[:, size > 1e-6 * size.max()][:, ::-1]  # the largest first
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
    # Rounded, as last digits depend on the machine and its number of threads.
    return np.ascontiguousarray((u * signs * np.sqrt(len(u))).round(5), dtype=np.float32)


def _drop_edges(graph: Graph, rate: float, seed: int, decompose: Decompose) -> Graph:
    """Without some undirected edges; those dropped at a lower rate are among them."""
    ends = np.sort(graph.edges, axis=0)
    pairs, number = np.unique(ends[0] * graph.num_nodes + ends[1], return_inverse=True)
    draw = np.random.Generator(np.random.PCG64(seed_for("drop_edges", graph.name, seed)))
    order = np.argsort(draw.random(len(pairs)), kind="stable")
    kept = np.ones(len(pairs), dtype=bool)
    kept[order[: round(rate * len(pairs))]] = False
    return replace(graph, edges=graph.edges[:, kept[number]])


def _band(graph: Graph, band: int, seed: int, decompose: Decompose) -> Graph:
    """The part of the features in one tenth of the frequencies."""
    vectors = decompose(graph).vectors
    chosen = vectors[:, np.array_split(np.arange(graph.num_nodes), BANDS)[band - 1]]
    return replace(graph, features=_product(chosen, (graph.features.T @ chosen).T))


def _filter(graph: Graph, name: str, seed: int, decompose: Decompose) -> Graph:
    """Signals as features, filtered signals as targets."""
    spectrum, x = decompose(graph), signals(graph)
    response = FILTERS[name](spectrum.values).astype(np.float32)
    weighted = response[:, None] * _product(spectrum.vectors.T, x)
    y = _product(spectrum.vectors, weighted)
    return replace(graph, features=x, targets=y, metric="mse")


def _product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """``left @ right``, with the same digits whatever the number of threads."""
    import torch  # here, because readers of results know variants too

    with threads(1):
        return (torch.from_numpy(left) @ torch.from_numpy(right)).numpy()


VARIANTS = {
    "drop_edges": Variant(
        "this fraction of the undirected edges is dropped, drawn once per search of a run; what "
        "is dropped at a lower fraction is among it",
        check=lambda value: fraction("drop_edges", value, below_one=True),
        make=_drop_edges,
        drawn=True,
        neutral=0,
    ),
    "band": Variant(
        "features of one of ten bands with equally many frequencies, X_b = U_b U_b' X; 1 has "
        "the lowest; where many frequencies are equal, chance decides which fall into which band",
        check=lambda value: whole("band", value, 1, BANDS),
        make=_band,
        spectral=True,
    ),
    "filter": Variant(
        f"the {SIGNALS} leading principal components of feature presence are the input, what "
        "the filter makes of them is to be learned",
        check=lambda value: one_of("filter", value, FILTERS),
        make=_filter,
        spectral=True,
        metric="mse",
    ),
}
"""What a condition may change of a graph, in the order in which it is applied."""
