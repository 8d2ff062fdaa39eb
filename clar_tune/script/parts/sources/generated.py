r"""A contextual stochastic block model, which needs no file."""

import numpy as np
import torch
from torch_geometric.data import Data

from clar_tune.script.parts.seeds import seed_for


def read_graph(
    folder: str,
    name: str,
    homophily: float,
    own_word: float,
    other_word: float,
    classes: int,
    nodes: int,
    degree: float,
    words: int,
) -> Data:
    r"""The block model of that name; ``folder`` is not looked at.

    Node i has class :math:`y_i = i \bmod C` and activity :math:`\theta_i \propto u_i^2` of mean 1;
    word w belongs to class :math:`w \bmod C`. Then, all independent,

    .. math:: P(i \sim j) = \theta_i \theta_j \frac{d C}{N} \begin{cases} h & y_i = y_j \\
              (1 - h) / (C - 1) & y_i \ne y_j \end{cases}
              \qquad P(x_{iw} = 1) = \begin{cases} q & w \bmod C = y_i \\
              r & \text{otherwise} \end{cases}
    """
    draw = np.random.Generator(np.random.PCG64(seed_for("csbm", name, 0)))
    labels, owners = np.arange(nodes) % classes, np.arange(words) % classes
    activity = draw.random(nodes) ** 2
    activity /= activity.mean()
    one, other = np.triu_indices(nodes, k=1)
    alike, apart = homophily, (1 - homophily) / (classes - 1)
    chance = np.where(labels[one] == labels[other], alike, apart) * activity[one] * activity[other]
    joined = draw.random(len(one)) < chance * degree * classes / nodes
    own = labels[:, None] == owners
    used = draw.random(own.shape) < np.where(own, own_word, other_word)
    once = torch.from_numpy(np.stack([one[joined], other[joined]]))
    return Data(
        x=torch.from_numpy(used).float(),
        y=torch.from_numpy(labels),
        edge_index=torch.cat([once, once.flip(0)], dim=1),
    )
