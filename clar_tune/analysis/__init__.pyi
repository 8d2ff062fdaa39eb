"""Names that others may import from here; each is loaded when it is first used."""

from .budgets import finals_told as finals_told, repeats_told as repeats_told
from .comparison import compare as compare, compare_all as compare_all
from .effect_records import (
    BASELINE as BASELINE,
    INTERVALS as INTERVALS,
    Criteria as Criteria,
    OverGraphs as OverGraphs,
    PenaltyEffect as PenaltyEffect,
    ShiftPart as ShiftPart,
)
from .filter_responses import responses as responses
from .importance import FEWEST as FEWEST, TRUSTED as TRUSTED, importances as importances
from .layout import (
    Place as Place,
    condition_of as condition_of,
    split_label as split_label,
    to_cell as to_cell,
)
from .manifest_upgrade import why_ranges_are_unknown as why_ranges_are_unknown
from .optuna_export import check_target as check_target, export as export, opened_by as opened_by
from .past_trainings import paces as paces
from .progress import Progress as Progress, stored_progress as stored_progress
from .records import (
    CHAMPION as CHAMPION,
    Across as Across,
    Budget as Budget,
    Comparison as Comparison,
    Contrast as Contrast,
    Correlation as Correlation,
    PairAcross as PairAcross,
    Row as Row,
    Score as Score,
    Standing as Standing,
)
from .runs import (
    RunView as RunView,
    StudyView as StudyView,
    best_search as best_search,
    read_run as read_run,
)
from .scores import WEIGHTS as WEIGHTS
from .search_space import searched as searched
from .shift_part import shift_part_of as shift_part_of
from .statistics import LEVEL as LEVEL, estimate as estimate, least_p as least_p
from .winners import winners_space as winners_space
from .wording import (
    counted as counted,
    duration as duration,
    excerpt as excerpt,
    margin_of as margin_of,
    probability as probability,
    switched as switched,
)
