"""Names that others may import from here; each is loaded when it is first used."""

from .asha import Asha as Asha
from .driver import (
    Launch as Launch,
    View as View,
    drive as drive,
    load_graphs as load_graphs,
)
from .environment import is_loopback as is_loopback, prepare as prepare
from .gpu_check import check_gpus as check_gpus
from .health import Check as Check, installed as installed, unwritable_cache as unwritable_cache
from .inspection import inspect as inspect
from .packaging import modules_of as modules_of, packed as packed
from .ray_internals import JOB as JOB
from .resources import GIB as GIB, Resources as Resources
from .submitted_runs import Job as Job, Jobs as Jobs
