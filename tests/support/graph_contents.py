"""What trainings see of a graph."""

import hashlib

import numpy as np
import scipy.sparse as sp

from clar_tune.graphs.graph import Graph


def contents(graph: Graph) -> str:
    """All that a training sees of a graph, to the last digit."""
    digest = hashlib.sha256()
    for array in (graph.edges, graph.features, graph.targets):
        if array is not None:
            digest.update(np.ascontiguousarray(sp.coo_array(array).data).tobytes())
    return digest.hexdigest()


# Hashes, and what decides them.
