"""Names that others may import from here; each is loaded when it is first used."""

from .bounds import LONGEST_TIMEOUT as LONGEST_TIMEOUT
from .domains import (
    Choice as Choice,
    Domain as Domain,
    Fixed as Fixed,
    Range as Range,
    same as same,
    written as written,
)
from .groups import EXCHANGING as EXCHANGING, FEWEST as FEWEST
from .levels_reader import LEVELS as LEVELS
from .model import (
    Correlate as Correlate,
    Levels as Levels,
    Space as Space,
    TrainingRules as TrainingRules,
    condition_text as condition_text,
)
from .options import Options as Options
from .parameters import Parameter as Parameter, ParameterSet as ParameterSet
from .plan import Plan as Plan, make_plan as make_plan
from .reader import (
    parse_space as parse_space,
    stored_levels as stored_levels,
    stored_preprocessing as stored_preprocessing,
)
from .shipped import load_space as load_space, shipped_spaces as shipped_spaces
from .study_plan import Group as Group, StudyPlan as StudyPlan
from .yaml_nodes import read_items as read_items
