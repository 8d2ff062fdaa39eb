"""Where each weight of a backbone stands in the one flat array that programs train."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Floats, room
from clar_tune.engine.dense import ELU, RELU
from clar_tune.engine.problem import Layers, Places
from clar_tune.engine.randomness import PER_LAYER, WEIGHTS, uniform
from clar_tune.errors import ParameterError

LANES = 8
"""Widths are multiples of this."""


@dataclass(frozen=True, eq=False)
class Slot:
    """One tensor of a model under the name that torch gives it."""

    name: str
    shape: tuple[int, ...]
    places: Places
    bound: float
    """It starts uniform between minus and plus this."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The sizes of a network, and its tensors in the flat array."""

    layers: Layers
    slots: tuple[Slot, ...]
    size: int
    decayed: int
    keeps_mapped: bool
    """Whether the pass back needs what the layers had mapped."""
    start: Mapping[str, Floats] = field(default_factory=dict)
    """Tensors that start from given values."""

    def packed(self, tensors: Mapping[str, NDArray[Any]]) -> Floats:
        """The flat array that holds these tensors."""
        flat, shapes = room(self.size), {slot.name: slot.shape for slot in self.slots}
        given = {name: np.shape(tensor) for name, tensor in tensors.items()}
        if given != shapes:
            raise ParameterError(f"weights of {given}: those of {shapes} are needed.")
        for slot in self.slots:
            flat[slot.places] = np.asarray(tensors[slot.name], np.float32).ravel()
        return flat

    def unpacked(self, flat: Floats) -> dict[str, Floats]:
        """The tensors that a flat array holds."""
        return {slot.name: flat[slot.places].reshape(slot.shape) for slot in self.slots}

    def initial(self, seed: int) -> Floats:
        """The flat array at the start: each tensor has its own stream, so none shifts another."""
        tensors = {}
        for number, slot in enumerate(self.slots):
            drawn = uniform(seed, WEIGHTS + PER_LAYER * number, len(slot.places))
            tensors[slot.name] = (slot.bound * (2 * drawn - 1)).reshape(slot.shape)
        return self.packed({**tensors, **self.start})


def padded(width: int) -> int:
    """The next multiple of the lanes."""
    return -(-width // LANES) * LANES


def glorot(inputs: int, outputs: int) -> float:
    """The bound of Glorot and Bengio's uniform start."""
    return math.sqrt(6 / (inputs + outputs))


def layout_of(
    backbone: str, inputs: int, outputs: int, nodes: int, params: Mapping[str, Any]
) -> Layout:
    """The layout of a built-in backbone with these parameters."""
    return _Builder(backbone, inputs, outputs, nodes, params).build()


class _Builder:
    """Gives places to one layer after the other."""

    def __init__(
        self, backbone: str, inputs: int, outputs: int, nodes: int, params: Mapping[str, Any]
    ) -> None:
        self.backbone, self.nodes, self.params = backbone, nodes, params
        self.widths = [inputs, *[int(params["hidden"])] * (int(params["layers"]) - 1), outputs]
        self.size = 0
        self.slots: list[Slot] = []

    def build(self) -> Layout:
        depth = len(self.widths) - 1
        rows: list[dict[str, int]] = []
        reading = np.arange(self.widths[0])  # where each input of the next layer stands
        width = self.widths[0]
        hidden = mapped = 0
        for number in range(depth):
            heads = self._heads(number)
            row, reading = self._layer(number, heads, reading, width)
            keeps = self.backbone == "gat"  # the pass back needs what was mapped
            rows.append({**row, "inputs": width, "hidden_at": hidden, "mapped_at": mapped})
            width = row["outputs"]
            hidden += self.nodes * width
            mapped += self.nodes * row["mapped"] if keeps else 0
        columns = {
            name: np.array([row[name] for row in rows], np.int64) for name in Layers._fields[1:-1]
        }
        elu = self.backbone == "gat" and self.params.get("activation", "elu") == "elu"
        layers = Layers(depth=depth, **columns, activation=ELU if elu else RELU)
        decayed, start = self.size, {}
        if self.backbone == "gpr":
            start = {"gamma": self._gamma()}
        keeps = self.backbone == "gat"
        return Layout(layers, tuple(self.slots), self.size, decayed, keeps, start)

    def _heads(self, number: int) -> int:
        inner = number < len(self.widths) - 2
        return int(self.params["heads"]) if self.backbone == "gat" and inner else 1

    def _layer(
        self, number: int, heads: int, reading: Places, width: int
    ) -> tuple[dict[str, int], Places]:
        """Sizes and places of one layer, and where each of its outputs stands."""
        outputs = self.widths[number + 1]
        real, wide = heads * outputs, heads * padded(outputs)
        columns = (np.arange(heads)[:, None] * padded(outputs) + np.arange(outputs)).ravel()
        names, bias_bound = self._names(number), 0.0
        bound = glorot(len(reading), real)
        if self.backbone in ("mlp", "gpr", "sage"):
            bound = bias_bound = 1 / math.sqrt(len(reading))
        mapped, start = wide * len(names), self.size
        for place, name in enumerate(names):
            at = start + reading[:, None] * mapped + (columns + place * wide)
            self._add(f"layers.{number}.{name}", (len(reading), real), at, bound)
        self.size += width * mapped
        bias_at = self._vector(f"layers.{number}.bias", (real,), columns, wide, bias_bound)
        own_at = self.size
        if self.backbone == "gat":
            for name in ("source", "target"):
                shape, limit = (heads, outputs), glorot(heads, outputs)
                self._vector(f"layers.{number}.{name}", shape, columns, wide, limit)
        sizes = {"mapped": mapped, "outputs": wide, "weights_at": start, "bias_at": bias_at}
        return {**sizes, "own_at": own_at}, columns

    def _names(self, number: int) -> list[str]:
        if self.backbone == "sage":
            return ["neighbours", "own"]
        if self.backbone == "cheby":
            return [f"weights.{k}" for k in range(int(self.params["K"]) + 1)]
        return ["weight"]

    def _vector(
        self, name: str, shape: tuple[int, ...], columns: Places, width: int, bound: float
    ) -> int:
        start = self.size
        self._add(name, shape, start + columns, bound)
        self.size += width
        return start

    def _add(self, name: str, shape: tuple[int, ...], places: Places, bound: float) -> None:
        self.slots.append(Slot(name, shape, places.ravel(), bound))

    def _gamma(self) -> Floats:
        """The weights of GPR's powers, behind all others: they do not decay."""
        order, restart = int(self.params["K"]), float(self.params["restart"])
        self._vector("gamma", (order + 1,), np.arange(order + 1), padded(order + 1), 0.0)
        powers = (1.0 - restart) ** np.arange(order + 1)
        return np.append(restart * powers[:-1], powers[-1]).astype(np.float32)
