"""Names of the package; each is loaded when it is first used: the command line waits for none."""

from .api import (
    Comparison as Comparison,
    Figure as Figure,
    Figures as Figures,
    Run as Run,
    StoreView as StoreView,
    compare as compare,
    extend as extend,
    figures as figures,
    load_graph as load_graph,
    load_space as load_space,
    open_store as open_store,
    progress as progress,
    report as report,
    resume as resume,
    run as run,
)
from .cluster import Launch as Launch
from .fits import Fit as Fit, train as train
from .graphs import Graph as Graph
from .models import CLAR as CLAR, NL as NL, MadReg as MadReg, PReg as PReg
from .space import Options as Options, Space as Space
from .version import __version__ as __version__
