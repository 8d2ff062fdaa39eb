"""How many trials a cluster holds, as its machines come and go."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clar_tune.cluster.resources import GIB, Node, Resources
from clar_tune.errors import ClusterError

PATIENCE = 900.0
"""Seconds that a run waits for a machine that can hold a trial, if nothing says one will come."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Machines that an autoscaler may start: so many of each type, so many in all."""

    types: tuple[tuple[Node, int], ...] = ()
    most: int = 0

    def slots(self, resources: Resources) -> int:
        """How many trials they hold once all are there; the largest are started first."""
        found, left = 0, self.most
        sizes = [(resources.slots_of(node), count) for node, count in self.types]
        for slots, count in sorted(sizes, reverse=True):
            found += slots * min(count, left)
            left -= min(count, left)
        return found


@dataclass(slots=True)
class Capacity:
    """Decides how many jobs may be out.

    With an autoscaler these are as many as could run once all machines are there: only trials
    that wait show it that machines are wanted. One job at least is out at any time.
    """

    nodes: Sequence[Node]
    """The machines that are alive and not left out."""
    resources: Resources
    needs: Mapping[str, int] = field(default_factory=dict)
    """Bytes that a training on each graph may take."""
    limit: int | None = None
    growth: Growth = field(default_factory=Growth)
    now: Callable[[], float] = time.monotonic
    waits_since: float | None = None
    """When the last machine that could hold a trial was gone."""
    context: int = 0
    """Bytes that a worker takes of a GPU besides its tensors; 0 where nobody has looked."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Machines that break workers, by their ids, each with the cause."""

    def __post_init__(self) -> None:
        if self.unmeasured:
            # An autoscaler starts no machine of unknown memory for trials that ask for some.
            self.needs = {}
        for graph in self.needs or [""]:
            self._check(graph)

    @property
    def unmeasured(self) -> list[str]:
        """Machines that an autoscaler may start and whose memory it does not know."""
        return [node.name for node, _ in self.growth.types if node.memory == math.inf]

    def asked(self, graph: str, *, alone: bool = False) -> Resources:
        """What a job on a graph asks for; alone it has a whole GPU."""
        gpus = 1.0 if alone else self.resources.gpus
        return replace(self.resources, gpus=gpus, memory=self.needs.get(graph, 0))

    def has_room(self, graphs: Sequence[str]) -> bool:
        """Whether one more job may go out beside those on these graphs."""
        if self.limit is not None and len(graphs) >= self.limit:
            return False
        # Jobs of one size fill the cluster exactly, those of several sizes nearly so.
        return sum(1 / max(1, self._possible(graph)) for graph in graphs) < 1 - 1e-9

    def update(self, nodes: Sequence[Node], graphs: Sequence[str]) -> None:
        """Take notice of the machines that are alive now, with jobs on these graphs out."""
        self.nodes = [node for node in nodes if node.id not in self.left_out]
        if not graphs or any(self.workers([graph]) for graph in graphs):
            self.waits_since = None
        elif self.waits_since is None:
            self.waits_since = self.now()
        elif self.now() - self.waits_since > PATIENCE and not self._may_come(graphs):
            raise ClusterError(
                f"for {PATIENCE / 60:.0f} minutes no machine was there for a trial with "
                f"{_told(self.asked(graphs[0]))}; those there have: {self._sizes}. "
                "Add machines to the cluster, and go on with `clar-tune resume`."
            )

    def able(self, graph: str) -> set[str]:
        """Ids of the machines that can hold a job on a graph."""
        asked = self.asked(graph)
        return {node.id for node in self.nodes if asked.slots_of(node)}

    def leave_out(self, broken: Mapping[str, str]) -> None:
        """Count no more on machines that break workers; an error says that no other is there."""
        now = [node for node in self.nodes if node.id in broken]
        self.left_out = dict(broken)
        self.nodes = [node for node in self.nodes if node.id not in broken]
        if now and not any(self.able(graph) for graph in self.needs or [""]):
            causes = "; ".join(f"{node.name}: {broken[node.id]}" for node in now)
            raise ClusterError(
                "every machine is left out, as workers were lost there one after the other "
                f"({causes}). Mend them, with `clar-tune doctor`, or the model that breaks them, "
                "and go on with `clar-tune resume`."
            )

    def workers(self, graphs: Sequence[str] = ()) -> int:
        """How many jobs on these graphs run at once on the machines that are there."""
        sizes = [self.asked(graph) for graph in (graphs or list(self.needs) or [""])]
        slots = min(sum(map(size.slots_of, self.nodes)) for size in sizes)
        return slots if self.limit is None else min(slots, self.limit)

    def _possible(self, graph: str) -> int:
        """How many jobs on a graph run at once, now or when all machines are there."""
        asked = self.asked(graph)
        now = sum(map(asked.slots_of, self.nodes))
        heads = sum(asked.slots_of(node) for node in self.nodes if node.head)
        return max(now, heads + self.growth.slots(asked))

    def _may_come(self, graphs: Sequence[str]) -> bool:
        return any(self.growth.slots(self.asked(graph)) for graph in graphs)

    def _check(self, graph: str) -> None:
        """Refuse what no machine could ever hold."""
        if self._possible(graph) or self._lone_head:
            return
        on = f" on {graph}" if graph else ""
        types = "; ".join(f"{count} × {node}" for node, count in self.growth.types if count)
        more = f"; its autoscaler may add: {types}" if types else ""
        raise ClusterError(
            f"a trial{on} with {_told(self.asked(graph))} fits on no machine of the cluster "
            f"({self._sizes}{more}). Ask for less, or for larger machines."
        )

    @property
    def _lone_head(self) -> bool:
        """Whether only machines that run no trials are there: others may be about to join."""
        return bool(self.nodes) and not self.growth.types and not any(n.cpus for n in self.nodes)

    @property
    def _sizes(self) -> str:
        return "; ".join(map(str, self.nodes)) or "none is alive"


def _told(asked: Resources) -> str:
    options = f"--cpus-per-trial {asked.cpus:g} and --gpus-per-trial {asked.gpus:g}"
    return f"{options} and {asked.memory / GIB:.1f} GiB of memory" if asked.memory else options
