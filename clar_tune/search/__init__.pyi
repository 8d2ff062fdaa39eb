"""Names that others may import from here; each is loaded when it is first used."""

from .assignment import BATCH as BATCH, Assignment as Assignment, Done as Done, Work as Work
from .estimate import Estimate as Estimate, estimates as estimates, is_own as is_own
from .hosts import LOST_IN_A_ROW as LOST_IN_A_ROW, Hosts as Hosts
from .jobs import (
    TIME_LIMIT as TIME_LIMIT,
    Failure as Failure,
    Job as Job,
    Outcome as Outcome,
    OutOfTime as OutOfTime,
    TrainingResult as TrainingResult,
    failed as failed,
    one_line_error as one_line_error,
    out_of_time as out_of_time,
    perform as perform,
)
from .limits import Limits as Limits
from .manifest import (
    budget_of as budget_of,
    check_graphs as check_graphs,
    check_numbers as check_numbers,
    machine as machine,
    manifest_of as manifest_of,
    plan_columns as plan_columns,
    plan_of as plan_of,
    versions as versions,
    with_this_driver as with_this_driver,
)
from .memory import needs as needs, needs_of_sizes as needs_of_sizes
from .probe import machine_factor as machine_factor, probed_epochs as probed_epochs
from .process_errors import (
    BrokenProcess as BrokenProcess,
    is_out_of_memory as is_out_of_memory,
)
from .progress import studies_under_way as studies_under_way
from .repro import Difference as Difference, repeat_training as repeat_training
from .scheduler import Scheduler as Scheduler
from .sizes import Size as Size
from .study import StudyState as StudyState
