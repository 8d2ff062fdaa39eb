"""The matrix by which a network spreads over the graph, and the thinner ones of DropEdge."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Csr, Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.randomness import word
from clar_tune.engine.teams import AnyTeam

ROWS, COLUMNS, MEAN = range(3)
"""Rules of scaling: by the roots of entries in rows or in columns, or by the entries in a row."""

ALWAYS = 2**32 - 1
"""The number of a self-loop: no pair that could be dropped."""


class Operator(NamedTuple):
    """A matrix of a graph and its transpose; the same arrays where edges have no direction."""

    matrix: Csr
    transposed: Csr
    pairs: Numbers  # [entries] the number of each entry's undirected pair, in a thinner matrix
    transposed_pairs: Numbers
    counts: NDArray[np.float32]  # [N] in a thinner matrix
    rule: int
    team: AnyTeam  # who shares its products


@kernel
def thin(full: Operator, rate: float, key: np.uint64, thinner: Operator) -> None:
    """Drops each undirected pair with probability ``rate`` and scales what is left anew.

    Both directions of a pair have one number, whose word decides.
    """
    limit = np.uint32(min(rate * 2.0**32, 2.0**32 - 1))
    _select(full.matrix, thinner.pairs, limit, key, thinner.matrix)
    _select(full.transposed, thinner.transposed_pairs, limit, key, thinner.transposed)
    by = thinner.transposed if full.rule == COLUMNS else thinner.matrix
    for row in range(len(thinner.counts)):
        count = np.float32(by.starts[row + 1] - by.starts[row])
        thinner.counts[row] = np.float32(0) if count == 0 else np.float32(1) / count
    _scale(thinner.matrix, thinner.counts, full.rule, False)
    _scale(thinner.transposed, thinner.counts, full.rule, True)


@kernel
def _select(matrix: Csr, pairs: Numbers, limit: np.uint32, key: np.uint64, left: Csr) -> None:
    place = 0
    for row in range(len(matrix.starts) - 1):
        for entry in range(matrix.starts[row], matrix.starts[row + 1]):
            pair = pairs[entry]
            left.columns[place] = matrix.columns[entry]  # overwritten by the next if dropped
            place += signed(pair == ALWAYS or word(key, pair) >= limit)
        left.starts[row + 1] = place


@kernel
def _scale(matrix: Csr, inverse: Floats, rule: int, transposed: bool) -> None:
    """An entry is the root of the product of both ends' inverse counts, or that of its row."""
    for row in range(len(matrix.starts) - 1):
        for entry in range(matrix.starts[row], matrix.starts[row + 1]):
            column = matrix.columns[entry]
            if rule == MEAN:
                matrix.values[entry] = inverse[column] if transposed else inverse[row]
            else:
                matrix.values[entry] = np.sqrt(inverse[row] * inverse[column])
