"""Contextual stochastic block models: graphs that need no download, always called synthetic."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from clar_tune.errors import UnknownName
from clar_tune.graphs.graph import Graph, merge_duplicates
from clar_tune.seeds import seed_for


@dataclass(frozen=True, slots=True)
class BlockModel:
    """What decides a contextual stochastic block model."""

    homophily: float  # h
    own_word: float  # q: how often a node uses a word of its class
    other_word: float  # r: how often it uses any other word
    classes: int = 4  # C
    nodes: int = 600  # N
    degree: float = 8.0  # d
    words: int = 240  # F


BLOCK_MODELS = {
    "csbm-homophily": BlockModel(homophily=0.8, own_word=0.08, other_word=0.04),
    "csbm-heterophily": BlockModel(homophily=0.15, own_word=0.11, other_word=0.04),
}


def generate(name: str, seed: int = 0) -> Graph:
    r"""The block model called ``name``; equal seeds give equal graphs on every machine.

    Node :math:`i` has class :math:`y_i = i \bmod C` and activity :math:`\theta_i \propto u_i^2`
    of mean 1, :math:`u_i` uniform; word :math:`w` belongs to class :math:`w \bmod C`. Then

    .. math:: P(i \sim j) = \theta_i \theta_j \frac{d C}{N} \begin{cases} h & y_i = y_j \\
              (1 - h) / (C - 1) & y_i \ne y_j \end{cases}
              \qquad P(x_{iw} = 1) = \begin{cases} q & w \bmod C = y_i \\
              r & \text{otherwise} \end{cases}

    all independent: mean degree about :math:`d`, edge homophily about :math:`h`. Unequal
    activity leaves some nodes with few edges; without it the homophilic graph is too easy.
    """
    if name not in BLOCK_MODELS:
        raise UnknownName("generated graph", name, BLOCK_MODELS)
    model = BLOCK_MODELS[name]
    draw = np.random.Generator(np.random.PCG64(seed_for("csbm", name, seed)))
    labels = np.arange(model.nodes, dtype=np.int64) % model.classes  # [N]
    owners = np.arange(model.words) % model.classes  # [F]

    # random() only: of all draws the least likely to change between versions of numpy.
    activity = draw.random(model.nodes) ** 2  # [N]
    activity /= activity.mean()
    one, other = np.triu_indices(model.nodes, k=1)
    alike, apart = model.homophily, (1 - model.homophily) / (model.classes - 1)
    chance = np.where(labels[one] == labels[other], alike, apart) * activity[one] * activity[other]
    joined = draw.random(len(one)) < chance * model.degree * model.classes / model.nodes
    pairs = np.stack([one[joined], other[joined]]).astype(np.int64)
    edges = np.concatenate([pairs, pairs[::-1]], axis=1)

    own = labels[:, None] == owners  # [N, F]
    used = draw.random(own.shape) < np.where(own, model.own_word, model.other_word)
    features = sp.csr_array(used.astype(np.float32))
    return Graph(name, features, merge_duplicates(edges, model.nodes), labels)
