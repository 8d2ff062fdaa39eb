"""What no training can be asked for, whichever engine does it."""

from clar_tune.errors import ParameterError
from clar_tune.records import OPTIMIZERS, SELECTIONS, STOPS, TrainSpec
from clar_tune.validation import one_of, whole


def check_rules(spec: TrainSpec, train: int, val: int) -> None:
    """Refuse rules that there are not, and splits without ``train`` or ``val`` nodes."""
    one_of("select", spec.select, SELECTIONS)
    one_of("optimizer", spec.optimizer, OPTIMIZERS)
    one_of("stop", spec.stop, STOPS)
    for name, value, low in (
        ("max_epochs", spec.max_epochs, 1),
        ("patience", spec.patience, 1),
        ("warmup", spec.warmup, 0),
        ("threads", spec.threads, 1),
    ):
        whole(name, value, low)
    if not train or not val:
        raise ParameterError(
            f"{spec.graph}: nodes to train and to validate are needed, got {train} and {val}. "
            "Choose another protocol."
        )
