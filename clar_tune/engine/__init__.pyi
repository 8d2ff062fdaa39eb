"""Names that others may import from here; each is loaded when it is first used."""

from .arrays import ArrayGraph as ArrayGraph
from .compiling import TARGET as TARGET
from .programs import program_of as program_of
from .task import task_of as task_of
from .training import Fit as Fit, cannot as cannot, train as train
