r"""Both passes through the layers of a network, :math:`X' = \mathrm{dropout}(f(P(X W) + b))`."""

from clar_tune.engine.arrays import Floats, Numbers
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import transpose
from clar_tune.engine.networks import propagate, propagate_back
from clar_tune.engine.problem import Data, Layers, Network, Rules, Work
from clar_tune.engine.randomness import FEATURES, HIDDEN, PER_LAYER, key_of
from clar_tune.engine.teams import (
    activate_back_shared,
    activate_shared,
    add_dense_transposed_shared,
    add_transposed_shared,
    dense_product_shared,
    drop_entries_shared,
    multiply_shared,
)


@kernel
def forward(
    network: Network,
    layers: Layers,
    data: Data,
    rules: Rules,
    weights: Floats,
    rows: Numbers,
    dropout: float,
    epoch: int,
    work: Work,
) -> None:
    """Outputs of some rows; those of hidden layers stay for the pass back. Epoch 0 evaluates."""
    nodes = len(data.every)
    h = work.hidden
    for layer in range(layers.depth):
        width = layers.mapped[layer]
        z = work.mapped[layers.mapped_at[layer] :]
        w = weights[layers.weights_at[layer] :]
        if layer > 0:
            dense_product_shared(work.team, h, w, nodes, layers.inputs[layer], width, z)
        elif dropout > 0:
            key = key_of(rules.seed, FEATURES, epoch)
            drop_entries_shared(work.team, data.features, dropout, key, work.words, work.kept)
            multiply_shared(
                work.team, work.kept, data.every, w, width, work.nothing, width, z, width
            )
        else:
            multiply_shared(
                work.team, data.features, data.every, w, width, work.nothing, width, z, width
            )
        if layer == layers.depth - 1:
            propagate(network, layers, layer, weights, z, rows, work.outputs, epoch)
        else:
            start = layers.hidden_at[layer]
            h = work.hidden[start : start + nodes * layers.outputs[layer]]
            propagate(network, layers, layer, weights, z, data.every, h, epoch)
            key = key_of(rules.seed, HIDDEN + PER_LAYER * layer, epoch)
            activate_shared(work.team, h, layers.activation, dropout, key, work.words)


@kernel
def backward(
    network: Network,
    layers: Layers,
    data: Data,
    rules: Rules,
    weights: Floats,
    dropout: float,
    epoch: int,
    work: Work,
) -> None:
    r"""Adds the gradients of all weights, from that of the outputs.

    With g the gradient of :math:`P(X W) + b` and :math:`\partial Z` what ``propagate_back``
    makes of it: :math:`\partial W = X^\top \partial Z` and :math:`\partial X = \partial Z W^\top`.
    """
    nodes = len(data.every)
    g = work.d_outputs
    for layer in range(layers.depth - 1, -1, -1):
        width, inner = layers.mapped[layer], layers.inputs[layer]
        dz = work.d_mapped[: nodes * width]
        z = work.mapped[layers.mapped_at[layer] :]
        propagate_back(network, layers, layer, weights, z, g, work.gradient, dz)
        start = layers.weights_at[layer]
        gradient = work.gradient[start:]
        if layer == 0:
            if dropout > 0:
                add_transposed_shared(work.team, work.kept, dz, width, gradient)
            else:
                add_transposed_shared(work.team, data.features, dz, width, gradient)
        else:
            first = layers.hidden_at[layer - 1]
            h = work.hidden[first : first + nodes * inner]
            add_dense_transposed_shared(work.team, h, dz, nodes, inner, width, gradient)
            transpose(weights[start:], inner, width, work.transposed)
            g = work.d_hidden[: nodes * inner]
            dense_product_shared(work.team, dz, work.transposed, nodes, width, inner, g)
            key = key_of(rules.seed, HIDDEN + PER_LAYER * (layer - 1), epoch)
            activate_back_shared(work.team, g, h, layers.activation, dropout, key, work.words)
