"""One training for a program or a command: asked for, prepared, trained, kept.

import clar_tune as ct

fit = ct.train("csbm-heterophily", "gcn+clar", alpha=0.1, dropout=0.5)
fit.score, fit.predictions, fit.curve
fit.save("mine")
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clar_tune.configuration import Configuration, read_configuration
from clar_tune.errors import ParameterError
from clar_tune.preparation import RULES, Prepared, Rules, prepare, prepare_again
from clar_tune.records import TrainRecord, TrainSpec, to_stored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from clar_tune.graphs import Graph
    from clar_tune.training import Report

FILES = ("weights.pt", "predictions.parquet", "curve.parquet", "configuration.json")
"""What :meth:`Fit.save` writes: weights, answers for all nodes, validation losses, and what was
trained, which ``clar-tune train --from`` takes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """A finished training."""

    spec: TrainSpec
    record: TrainRecord
    """Scores, epochs, and what the penalty did."""
    graph: Graph
    """What it was trained on, as its condition changed it."""
    logits: Tensor
    """[N, C] Outputs of the selected epoch in evaluation mode; numbers in regression."""
    curve: NDArray[np.float64]
    """[epochs] The validation loss of each epoch."""
    state: Mapping[str, Tensor]
    """Weights of the selected epoch by the names of torch's network, whatever trained them."""
    configuration: Configuration

    @property
    def score(self) -> float:
        """The validation score, in the units of the graph's metric."""
        return self.record.val_score

    @property
    def predictions(self) -> NDArray[Any]:
        """[N] The class that each node is taken for; in regression its numbers, [N, T]."""
        answers = self.logits if self.graph.targets is not None else self.logits.argmax(1)
        return answers.cpu().numpy()

    @property
    def test_score(self) -> float:
        """The score on test nodes: to be told, not to be chosen by."""
        from clar_tune.training import test_score

        return test_score(self, self.spec, self.graph)

    def module(self) -> nn.Module:
        """The trained network in evaluation mode.

        A built-in one takes ``(x, adjacency)`` as ``TensorGraph.of(graph)`` has them, and gives
        logits; a module of the user's takes what it always takes.
        """
        import torch

        from clar_tune.models import Method, TensorGraph

        method = Method(self.spec.backbone, self.spec.regularizer)
        with torch.random.fork_rng([]):
            model = method.build_model(TensorGraph.of(self.graph), self.spec.params)
        model.network.load_state_dict(dict(self.state))
        return model.network.eval()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write weights, predictions, learning curve and configuration to a folder.

        A folder that holds any of these files already is refused: they would not belong together.
        """
        import torch

        from clar_tune.store import write_columns

        place = Path(folder)
        check_out(place)
        place.mkdir(parents=True, exist_ok=True)
        weights, predictions, curve, configuration = (place / name for name in FILES)
        torch.save({name: tensor.clone() for name, tensor in self.state.items()}, weights)
        write_columns(predictions, self._answers())
        write_columns(curve, self._curve())
        configuration.write_text(json.dumps(to_stored(self.configuration), indent=2) + "\n")
        return place

    def _answers(self) -> dict[str, NDArray[Any]]:
        """One row per node: what it was for, what is true, what is answered."""
        import numpy as np

        from clar_tune.graphs import search_nodes, test_nodes

        spec, graph = self.spec, self.graph
        split = spec.protocol, spec.split_seed, spec.outer_test
        nodes = search_nodes(graph, *split)
        parts = {"train": nodes.train, "val": nodes.val, "test": test_nodes(graph, *split)}
        numbers = np.arange(graph.num_nodes)
        columns: dict[str, NDArray[Any]] = {"node": numbers}
        columns |= {name: np.isin(numbers, chosen) for name, chosen in parts.items()}
        if graph.targets is not None:
            return {**columns, "target": graph.targets, "predicted": self.predictions}
        logits = self.logits.cpu().numpy()
        return {**columns, "label": graph.labels, "predicted": self.predictions, "logits": logits}

    def _curve(self) -> dict[str, NDArray[Any]]:
        """One row per epoch."""
        import numpy as np

        epochs = np.arange(1, len(self.curve) + 1)
        selected = epochs == self.record.best_epoch
        return {"epoch": epochs, "val_loss": self.curve, "selected": selected}


def check_out(folder: Path) -> None:
    """Refuse a place where a training cannot be kept, before it is trained."""
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder}: this is a file. Name a folder.")
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise ParameterError(
            f"{folder}: {', '.join(there)} of another training would be overwritten. Name another "
            "folder."
        )


def train(
    graph: str | Graph,
    method: str,
    *,
    data: str | os.PathLike[str] | None = None,
    report: Report | None = None,
    **given: Any,
) -> Fit:
    """Train one configuration once, here and now.

    Args:
        graph: name of a graph, or one that is at hand and is trained on as it is.
        method: ``gcn``, ``gcn+clar``, ``sage+clar`` …
        data: folder with raw graphs.
        report: called now and then with the epoch, its validation loss and the best score so far.
        given: parameters of the method, ``alpha=1.0``, and fields of :class:`Rules`,
            ``protocol="planetoid"``.
    """
    rules = {name: given.pop(name) for name in RULES if name in given}
    folder = None if data is None else Path(data)
    prepared = prepare(graph, method, given, Rules(**rules), folder)
    return fit_of(prepared, report)


def train_again(
    configuration: Configuration,
    *,
    data: str | os.PathLike[str] | None = None,
    report: Report | None = None,
    **changed: Any,
) -> Fit:
    """Train a configuration that was taken along, on the first of its pairs.

    Args:
        configuration: a winner's, or that of a kept training.
        data: folder with raw graphs.
        report: as of :func:`train`.
        changed: parameters and fields of :class:`Rules` that are to be others.
    """
    rules = {name: changed.pop(name) for name in RULES if name in changed}
    folder = None if data is None else Path(data)
    prepared = prepare_again(configuration, changed, rules, folder)
    return fit_of(prepared, report)


def fit_of(prepared: Prepared, report: Report | None = None) -> Fit:
    """Do a training that was prepared; ``report`` hears of its progress."""
    from clar_tune.training import train as fit_model

    prepared.make_ready()
    done = fit_model(prepared.spec, prepared.form, prepared.nodes, report)
    return Fit(
        spec=prepared.spec,
        record=done.record,
        graph=prepared.graph,
        logits=done.logits,
        curve=done.curve,
        state=done.state,
        configuration=prepared.configuration(done.record),
    )


def load_configuration(file: str | os.PathLike[str]) -> Configuration:
    """The configuration that :meth:`Fit.save` or ``clar-tune best --json`` wrote to a file."""
    try:
        content = json.loads(Path(file).read_text())
    except (OSError, ValueError) as error:
        raise ParameterError(f"{os.fspath(file)}: cannot be read as JSON ({error}).") from error
    return read_configuration(content, os.fspath(file))
