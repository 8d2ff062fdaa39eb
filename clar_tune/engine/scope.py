"""What this engine trains, and what it leaves to torch; told without numba."""

from importlib.util import find_spec
from typing import NamedTuple

BACKBONES = ("gcn", "gat", "sage", "cheby", "gpr", "mlp")
REGULARIZERS = ("none", "clar", "nl", "preg", "madreg", "dropedge", "prior", "seen")
METRICS = ("accuracy", "roc_auc", "mse")


class Left(NamedTuple):
    """Something that torch does, also where the engine is asked for."""

    what: str
    why: str


LEFT_TO_TORCH = (
    Left("adagraph", "it trains several rounds, each on a graph that the last one rewired"),
    Left("selection by ROC AUC", "its score is taken of outputs that are handed back, at the end"),
    Left("answers of prior and seen", "they are corrected once, after the training"),
    Left("modules of yours", "they are written for torch"),
    Left("GPUs", "programs are compiled for processors"),
)
"""What stays with torch, by design."""

MISSING: tuple[Left, ...] = ()
"""What this engine lacks."""


LARGE = 1_000_000
"""Features that are not zero and edges from which threads share the kernels of one training.

Below, waiting for each other costs them more (``python -m benchmarks.threads``, BENCHMARKS.md):
they do several trainings side by side. Numbers are the same either way.
"""

UNSHARED = ("gat",)
"""Backbones whose threads are always side by side: sums of attention are not shared yet."""


def team_size(backbone: str, threads: int, entries: int) -> int:
    """How many threads share the kernels of a training on a graph with so many entries."""
    return threads if entries >= LARGE and backbone not in UNSHARED else 1


def has_numba() -> bool:
    """Whether there is anything here to compile with."""
    return find_spec("numba") is not None


def cannot(backbone: str, regularizer: str, metric: str, select: str = "loss") -> str | None:
    """What keeps such a training from this engine; nothing where it can do it."""
    for kind, name, known in (
        ("backbone", backbone, BACKBONES),
        ("regularizer", regularizer, REGULARIZERS),
        ("metric", metric, METRICS),
    ):
        if name not in known:
            return f"{kind} {name}"
    return "selection by ROC AUC" if (metric, select) == ("roc_auc", "accuracy") else None
