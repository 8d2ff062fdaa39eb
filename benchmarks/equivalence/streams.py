"""Random streams looked at directly: rates, independence, uniformity."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.equivalence.cases import Pair, pair_of
from benchmarks.equivalence.results import Results
from clar_tune.engine import task_of
from clar_tune.engine.compiling import called
from clar_tune.engine.complement import draw_complement
from clar_tune.engine.operator import thin
from clar_tune.engine.passes import forward
from clar_tune.engine.randomness import (
    COMPLEMENT,
    EDGES,
    FEATURES,
    fill_words,
    key_of,
    threshold,
)

DRAWS = 10**6
EPOCHS, ELEMENTS = 2000, 500
GRAPH = "texas"


class Statistic(NamedTuple):
    """A statistic, and the chance of one as large if streams are what they should be."""

    name: str
    value: float
    p: float


def key_at(seed: int, purpose: int, epoch: int) -> np.uint64:
    """The key of a stream."""
    return np.uint64(called(key_of)(np.uint64(seed), purpose, epoch))


def kept(seed: int, epoch: int, count: int, rate: float) -> NDArray[np.bool_]:
    """What dropout keeps of so many elements."""
    words = np.empty((count + 1) // 2, np.uint32)
    called(fill_words)(key_at(seed, FEATURES, epoch), 0, len(words), words)
    bits: NDArray[np.bool_] = words.view(np.uint16)[:count] >= called(threshold)(rate)
    return bits


def by_normal(name: str, value: float, error: float) -> Statistic:
    """A deviation in units of its standard error, two-sided."""
    z = value / error
    return Statistic(name, z, float(2 * stats.norm.sf(abs(z))))


def keep_rates() -> Iterator[Statistic]:
    """How often an element is kept, in standard errors of its distance from 1 - rate."""
    for rate in (0.1, 0.3, 0.5, 0.7, 0.9):
        wanted = 1 - round(rate * 65536) / 65536
        share = kept(1, 1, DRAWS, rate).mean()
        error = np.sqrt(wanted * (1 - wanted) / DRAWS)
        yield by_normal(f"keep rate at dropout {rate}, z", share - wanted, error)


def independence() -> Iterator[Statistic]:
    """Correlations of kept bits between epochs and between elements; 1 / sqrt(n) is the error."""
    bits = np.stack([kept(2, epoch, ELEMENTS, 0.5) for epoch in range(1, EPOCHS + 1)]) - 0.5
    for lag in (1, 2, 10):
        for name, one, other in (
            ("epochs", bits[:-lag], bits[lag:]),
            ("elements", bits[:, :-lag], bits[:, lag:]),
        ):
            r = float(4 * np.mean(one * other))
            yield by_normal(f"correlation over {name}, lag {lag}, z", r, one.size**-0.5)
    z = bits.mean(axis=0) * 2 * np.sqrt(EPOCHS)
    test = stats.kstest(z, "norm")
    yield Statistic("rates of single elements, KS", float(test.statistic), float(test.pvalue))


def complement_draws() -> Iterator[Statistic]:
    """Partners over 10^6 draws: uniform over those that a node is not joined to."""
    for sampling in ("node", "edge", "any"):
        case = "gcn+clar" if sampling == "node" else f"gcn+clar {sampling}"
        pair = pair_of(GRAPH, case, 0, 0.5)
        penalty = task_of(pair.spec, pair.graph.arrays, pair.nodes).task.penalty
        nodes = pair.graph.graph.num_nodes
        counts = np.zeros((nodes, nodes), np.int64)
        epoch = 0
        while counts.sum() < DRAWS:
            epoch += 1
            key = key_at(3, COMPLEMENT, epoch)
            called(draw_complement)(penalty.graph, penalty.sampling, 1, key, penalty.draws)
            owners = np.repeat(np.arange(nodes), np.diff(penalty.draws.starts.astype(np.int64)))
            np.add.at(counts, (owners, penalty.draws.partners[: len(owners)]), 1)
        yield _uniform(f"partners by {sampling}, chi-square", counts, _allowed(pair, sampling))


def _allowed(pair: Pair, sampling: str) -> NDArray[np.bool_]:
    """Which partners each node may draw."""
    arrays = pair.graph.arrays
    joined = arrays.undirected.toarray() > 0
    free = np.ones_like(joined) if sampling == "any" else ~joined
    np.fill_diagonal(free, False)
    return np.asarray(free)


def _uniform(name: str, counts: NDArray[np.int64], allowed: NDArray[np.bool_]) -> Statistic:
    """Chi-square over all nodes; a draw that is not allowed makes it infinite."""
    if counts[~allowed].any():
        return Statistic(name, np.inf, 0.0)
    expected = counts.sum(axis=1, keepdims=True) / allowed.sum(axis=1, keepdims=True)
    expected = np.broadcast_to(expected, counts.shape)[allowed]
    value = float(((counts[allowed] - expected) ** 2 / expected).sum())
    freedom = int(allowed.sum()) - len(counts)
    return Statistic(f"{name} over {counts.sum()}", value, float(stats.chi2.sf(value, freedom)))


def edge_masks() -> Iterator[Statistic]:
    """DropEdge: rates of single pairs, and correlation of one epoch's masks with the next's."""
    pair = pair_of(GRAPH, "gcn+dropedge", 0, 0.5)
    task = task_of(pair.spec, pair.graph.arrays, pair.nodes).task
    full, thinner, rate = task.network.operator, task.thinner.operator, task.rules.thinned
    nodes, epochs = len(full.matrix.starts) - 1, 2000
    counts = np.zeros(epochs)
    for epoch in range(epochs):
        called(thin)(full, rate, key_at(4, EDGES, epoch + 1), thinner)
        counts[epoch] = (int(thinner.matrix.starts[-1]) - nodes) / 2
    pairs = (int(full.matrix.starts[-1]) - nodes) / 2
    deviation = np.sqrt(pairs * rate * (1 - rate))
    z = (counts - pairs * (1 - rate)) / deviation
    yield by_normal("dropedge, pairs left, z", z.mean(), epochs**-0.5)
    yield by_normal("dropedge, next epoch, z", float(np.mean(z[1:] * z[:-1])), epochs**-0.5)
    spread = float((z**2).sum())
    tail = min(stats.chi2.cdf(spread, epochs), stats.chi2.sf(spread, epochs))
    yield Statistic("dropedge, spread of counts, chi-square", spread, float(2 * tail))


def attention_masks() -> Iterator[Statistic]:
    """Which weights gat keeps: rates, and correlations of epochs, of heads and of edges."""
    pair = pair_of(GRAPH, "gat", 0, 0.5)
    task = task_of(pair.spec, pair.graph.arrays, pair.nodes).task
    network, layers, data, epochs = task.network, task.layers, task.data, 1000
    heads = int(network.heads[0])
    size = len(network.operator.matrix.columns) * network.lanes // 8
    masks = []
    for epoch in range(1, epochs + 1):
        called(forward)(
            network, layers, data, task.rules, task.weights, data.every, 0.5, epoch, task.work
        )
        bits = np.unpackbits(network.kept[:size], bitorder="little").reshape(-1, network.lanes)
        masks.append(bits[:, :heads] - 0.5)
    kept = np.stack(masks)
    yield by_normal("attention, keep rate, z", float(kept.mean()), 0.5 * kept.size**-0.5)
    for name, one, other in (
        ("epochs", kept[:-1], kept[1:]),
        ("edges", kept[:, :-1], kept[:, 1:]),
        ("heads", kept[:, :, :-1], kept[:, :, 1:]),
    ):
        r = float(4 * np.mean(one * other))
        yield by_normal(f"attention, correlation over {name}, z", r, one.size**-0.5)


def run(folder: Path) -> None:
    """Print and store each statistic; those that are stored are not computed again."""
    results = Results(folder, "streams", ("part", "name"))
    for part in (keep_rates, independence, complement_draws, edge_masks, attention_masks):
        done = [row for row in results.rows if row["part"] == part.__name__]
        if not done:
            for one in list(part()):
                results.add({"part": part.__name__, **one._asdict()})
    print(f"{'statistic':<52}{'value':>12}{'p':>9}")
    for row in results.rows:
        print(f"{row['name']:<52}{row['value']:>12.4g}{row['p']:>9.4f}")
