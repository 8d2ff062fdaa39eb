"""What a command changes of a space."""

from dataclasses import dataclass

from clar_tune.records import stored_as


@stored_as(
    *("settings", "graphs", "methods", "conditions", "protocol", "trials", "repeats", "finals"),
    *("sampler", "pruning", "selection", "outer_test", "seed", "threads", "cpus", "gpus"),
    *("trial_timeout", "first_trials"),
    later=("device", "ablation", "engine"),
    replicates="searches",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a command changes of a space; ``None`` leaves it as the space says."""

    settings: str = "tuned"
    graphs: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    conditions: tuple[str, ...] | None = None
    """``key=value`` each; a condition that has the key must have one of its values."""
    protocol: str | None = None
    trials: int | None = None
    repeats: int | None = None
    finals: int | None = None
    sampler: str | None = None
    pruning: bool | None = None
    selection: str | None = None
    replicates: int = 1
    outer_test: float = 0.0
    seed: int = 0
    threads: int = 1
    cpus: float = 1.0
    gpus: float = 0.0
    """What a trial occupied when the run began; a resumed one asks for the same."""
    trial_timeout: float = 1800.0
    first_trials: int | None = None
    """Trials asked for at first: an extended search keeps the start-up it had."""
    device: str | None = None
    """Where a run with a share of GPUs trains, ``cpu`` or ``cuda``, once its driver has looked."""
    ablation: bool = True
    """Whether winners are confirmed with their penalties switched off as well."""
    engine: str | None = None
    """What to train with, one of ``ENGINE_CHOICES``."""
