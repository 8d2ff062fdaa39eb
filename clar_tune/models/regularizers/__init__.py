"""The regularizers, each usable in any training loop."""

from clar_tune.models.regularizers.adagraph import AdaGraph
from clar_tune.models.regularizers.base import UNLIMITED, Known, Penalty, Regularizer
from clar_tune.models.regularizers.clar import CLAR, NL
from clar_tune.models.regularizers.controls import Prior, Seen
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
    "prior": Prior,
    "seen": Seen,
}

__all__ = [
    "CLAR",
    "NL",
    "REGULARIZERS",
    "UNLIMITED",
    "AdaGraph",
    "DropEdge",
    "Known",
    "MadReg",
    "PReg",
    "Penalty",
    "Prior",
    "Regularizer",
    "Seen",
]
