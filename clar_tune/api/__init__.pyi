"""Names that others may import from here; each is loaded when it is first used."""

from .comparing import Comparison as Comparison, compare as compare
from .continuing import extend as extend, resume as resume
from .drawing import Figure as Figure, Figures as Figures, figures as figures
from .driving import plan_run as plan_run, run as run
from .live import progress as progress, view_on as view_on
from .loading import load_graph as load_graph, load_space as load_space
from .pages import check_target as check_target, replace_file as replace_file, report as report
from .stored import Run as Run, StoreView as StoreView, open_store as open_store
from .watching import Observer as Observer
