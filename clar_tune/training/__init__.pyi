"""Names that others may import from here; each is loaded when it is first used."""

from .ablation import (
    Measured as Measured,
    Results as Results,
    Stage as Stage,
    Summary as Summary,
    labelled_arms as labelled_arms,
    seen as seen,
    summary as summary,
)
from .devices import (
    CONTEXT as CONTEXT,
    best_device as best_device,
    claim as claim,
    limit_memory as limit_memory,
    measured_context as measured_context,
    memory_fraction as memory_fraction,
    release_memory as release_memory,
    use_deterministic_algorithms as use_deterministic_algorithms,
)
from .engines import (
    Form as Form,
    choose_engine as choose_engine,
    cpu_of as cpu_of,
    form_of as form_of,
    make_ready as make_ready,
    no_programs_here as no_programs_here,
    side_by_side as side_by_side,
    train as train,
)
from .frequencies import BANDS as BANDS, Frequencies as Frequencies, band_edges as band_edges
from .held_out import (
    TestScores as TestScores,
    test_count as test_count,
    test_score as test_score,
    test_scores as test_scores,
)
from .loop import Report as Report, warm_up as warm_up
from .objectives import (
    REGRESSION as REGRESSION,
    check_objective as check_objective,
    objective_of as objective_of,
)
