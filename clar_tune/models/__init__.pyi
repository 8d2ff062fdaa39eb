"""Names that others may import from here; each is loaded when it is first used."""

from .adjacency import Adjacency as Adjacency
from .arms import Arm as Arm, arms_of as arms_of, method_of_arm as method_of_arm
from .backbones import BACKBONES as BACKBONES
from .complement import MAP_BYTES as MAP_BYTES, Complement as Complement
from .host_reads import device_forms as device_forms, reads_are_free as reads_are_free
from .known_point import known_elsewhere as known_elsewhere, known_values as known_values
from .method import Method as Method, Model as Model
from .regularizers import (
    CLAR as CLAR,
    NL as NL,
    REGULARIZERS as REGULARIZERS,
    Known as Known,
    MadReg as MadReg,
    Penalty as Penalty,
    PReg as PReg,
    Regularizer as Regularizer,
)
from .sparse import Csr as Csr
from .tensors import TensorGraph as TensorGraph
