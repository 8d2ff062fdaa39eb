"""The graph neural networks; every one returns logits."""

from clar_tune.models.anchored import Fagcn, Gcnii
from clar_tune.models.backbone import Backbone, Mlp
from clar_tune.models.filters import Appnp, Bernnet, Gpr
from clar_tune.models.message_passing import Cheby, Gat, Gcn, Sage
from clar_tune.models.second_order import H2gcn

BACKBONES: dict[str, type[Backbone]] = {
    "gcn": Gcn,
    "gat": Gat,
    "sage": Sage,
    "cheby": Cheby,
    "gpr": Gpr,
    "mlp": Mlp,
    "appnp": Appnp,
    "gcnii": Gcnii,
    "bernnet": Bernnet,
    "fagcn": Fagcn,
    "h2gcn": H2gcn,
}
