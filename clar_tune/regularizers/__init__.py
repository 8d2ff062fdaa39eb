"""The regularizers, each usable in any training loop."""

from clar_tune.regularizers.adagraph import AdaGraph
from clar_tune.regularizers.base import Penalty, Regularizer
from clar_tune.regularizers.clar import CLAR, NL
from clar_tune.regularizers.dropedge import DropEdge
from clar_tune.regularizers.madreg import MadReg
from clar_tune.regularizers.preg import PReg

REGULARIZERS: dict[str, type[Regularizer]] = {
    "none": Regularizer,
    "clar": CLAR,
    "nl": NL,
    "preg": PReg,
    "madreg": MadReg,
    "dropedge": DropEdge,
    "adagraph": AdaGraph,
}

__all__ = [
    "CLAR",
    "NL",
    "REGULARIZERS",
    "AdaGraph",
    "DropEdge",
    "MadReg",
    "PReg",
    "Penalty",
    "Regularizer",
]
