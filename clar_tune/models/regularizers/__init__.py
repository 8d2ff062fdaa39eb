"""The regularizers, each usable in any training loop."""

from clar_tune.models.regularizers.adagraph import AdaGraph
from clar_tune.models.regularizers.base import UNLIMITED, Penalty, Regularizer
from clar_tune.models.regularizers.clar import CLAR, NL
from clar_tune.models.regularizers.dropedge import DropEdge
from clar_tune.models.regularizers.madreg import MadReg
from clar_tune.models.regularizers.preg import PReg

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
    "UNLIMITED",
    "AdaGraph",
    "DropEdge",
    "MadReg",
    "PReg",
    "Penalty",
    "Regularizer",
]
