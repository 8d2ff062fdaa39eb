"""The arguments of a program, made of a specification, a graph and the nodes of a split."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import ArrayGraph, Csr, Floats, room
from clar_tune.engine.backbones import attention_dropout, network_of, thinner
from clar_tune.engine.dense import BLOCK
from clar_tune.engine.layout import Layout, layout_of
from clar_tune.engine.penalties import Penalty
from clar_tune.engine.problem import Data, Layers, Network, Rules, Work
from clar_tune.engine.regularizers import terms_of
from clar_tune.engine.scope import team_size
from clar_tune.engine.teams import Alone, AnyTeam, Team
from clar_tune.graphs import SearchNodes
from clar_tune.records import TrainSpec
from clar_tune.seeds import seed_for


class Task(NamedTuple):
    """The arguments of a program."""

    network: Network
    thinner: Network
    layers: Layers
    data: Data
    rules: Rules
    penalty: Penalty
    work: Work
    weights: Floats
    best: Floats
    history: NDArray[np.float64]  # [epochs or 0] gets the validation losses
    progress: NDArray[np.float64]  # [4]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A task, how its weights are laid out, and what stands for the terms of its penalty."""

    task: Task
    layout: Layout
    terms: tuple[str, ...]
    facts: Mapping[str, float]

    def outputs(self) -> Floats:
        """The outputs [N, C] that the program has left, without padding."""
        width, count = int(self.layout.layers.outputs[-1]), self.task.data.outputs
        return self.task.work.outputs.reshape(-1, width)[:, :count].copy()


def task_of(
    spec: TrainSpec,
    graph: ArrayGraph,
    nodes: SearchNodes,
    weights: Mapping[str, NDArray[Any]] | None = None,
    *,
    history: bool = False,
    team: AnyTeam | None = None,
) -> "Prepared":
    """The task of a specification.

    ``weights`` are those to start from, by torch's names; absent, they are drawn. ``team``
    shares the kernels; absent, it is that of the specification.
    """
    team = team or team_of(spec, graph)
    params = spec.params
    layout = layout_of(
        spec.backbone, graph.num_features, graph.num_outputs, graph.num_nodes, params
    )
    seed = spec.init_seed
    flat = layout.initial(seed) if weights is None else layout.packed(weights)
    work = _work(layout, graph, team)
    width = int(layout.layers.outputs[-1])
    terms = terms_of(spec.regularizer, graph, width, params)
    rules = _rules(spec, layout)
    network = network_of(spec.backbone, graph, layout, work, params, rules.seed, team)
    task = Task(
        network=network,
        thinner=thinner(network) if spec.regularizer == "dropedge" else network,
        layers=layout.layers,
        data=_data(graph, nodes, layout),
        rules=rules,
        penalty=terms.penalty,
        work=work,
        weights=flat,
        best=room(len(flat)),
        history=np.zeros(spec.max_epochs if history else 0),
        progress=np.zeros(4),
    )
    return Prepared(task, layout, terms.names, terms.facts)


def team_of(spec: TrainSpec, graph: ArrayGraph) -> AnyTeam:
    """Who does a training: more than one thread where its graph is large."""
    size = team_size(spec.backbone, spec.threads, graph.entries)
    return Team(size) if size > 1 else Alone(1)


def _rules(spec: TrainSpec, layout: Layout) -> Rules:
    params: Mapping[str, Any] = spec.params
    dropout, released = float(params["dropout"]), spec.stop == "released"
    random = dropout > 0 or (spec.backbone == "gat" and attention_dropout(params) > 0)
    thinned = float(params["rate"]) if spec.regularizer == "dropedge" else 0.0
    return Rules(
        seed=np.uint64(seed_for("engine", spec.init_seed)),
        rate=float(params["lr"]),
        decay=float(params["weight_decay"]),
        decayed=layout.decayed,
        dropout=dropout,
        max_epochs=spec.max_epochs,
        patience=spec.patience,
        warmup=0 if released else spec.warmup,
        late_best=spec.warmup if released else -1,
        by_score=spec.select == "accuracy",
        one_pass=not random and spec.regularizer != "dropedge",
        thinned=thinned,
    )


def _data(graph: ArrayGraph, nodes: SearchNodes, layout: Layout) -> Data:
    train, val = (np.array(part, np.uint32) for part in (nodes.train, nodes.val))
    targets = np.zeros(0, np.float32)
    if graph.targets is not None:
        wide = np.zeros((graph.num_nodes, layout.layers.outputs[-1]), np.float32)
        wide[:, : graph.num_outputs] = graph.targets
        targets = wide.ravel()
    return Data(
        features=graph.features,
        labels=graph.labels,
        targets=targets,
        outputs=graph.num_outputs,
        every=np.arange(graph.num_nodes, dtype=np.uint32),
        train=train,
        val=val,
        both=np.union1d(train, val),
    )


def _work(layout: Layout, graph: ArrayGraph, team: AnyTeam) -> Work:
    layers, n = layout.layers, graph.num_nodes
    entries = len(graph.features.columns)
    widest = int(max(layers.mapped.max(), layers.outputs.max()))
    outputs = n * int(layers.outputs[-1])
    mapped = room(int((layers.mapped_at + n * layers.mapped).max()))
    return Work(
        kept=Csr(
            np.zeros(n + 1, np.uint32),
            np.zeros(entries + 1, np.uint32),
            np.zeros(entries + 1, np.float32),
        ),
        words=np.zeros(max(entries + 1, team.size * BLOCK) // 2 + 1, np.uint32),
        nothing=room(widest),
        mapped=mapped,
        hidden=room(int(layers.hidden_at[-1])),
        outputs=room(outputs),
        d_outputs=room(outputs),
        # One array where nothing is needed twice: caches are small.
        d_mapped=room(n * widest) if layout.keeps_mapped else mapped,
        d_hidden=room(n * int(layers.outputs.max())),
        transposed=room(int((layers.inputs * layers.mapped)[1:].max(initial=0))),
        gradient=room(layout.size),
        mean=room(layout.size),
        square=room(layout.size),
        team=team,
    )
