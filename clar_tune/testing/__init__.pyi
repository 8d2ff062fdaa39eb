"""Names that others may import from here; each is loaded when it is first used."""

from .backbone_checks import check_backbone as check_backbone
from .graph_checks import check_graph as check_graph
from .regularizer_checks import check_regularizer as check_regularizer
