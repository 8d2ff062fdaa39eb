"""Names that others may import from here; each is loaded when it is first used."""

from .arrays import ArrayGraph as ArrayGraph
from .compiling import (
    TARGET as TARGET,
    cache_folder as cache_folder,
    may_use_cache as may_use_cache,
)
from .programs import (
    compilation as compilation,
    compile_all as compile_all,
    name_of as name_of,
    program_named as program_named,
    program_of as program_of,
    uncompiled as uncompiled,
)
from .scope import (
    LEFT_TO_TORCH as LEFT_TO_TORCH,
    MISSING as MISSING,
    cannot as cannot,
    has_numba as has_numba,
    team_size as team_size,
)
from .task import task_of as task_of
from .training import Fit as Fit, train as train
