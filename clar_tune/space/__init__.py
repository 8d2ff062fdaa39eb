"""Spaces: YAML files that say what is searched, how it is trained and how it is confirmed."""

from clar_tune.space.checks import check_sampler
from clar_tune.space.files import load_space, shipped_spaces
from clar_tune.space.model import (
    COEFFICIENTS,
    SAMPLERS,
    Condition,
    Correlate,
    Levels,
    SearchRules,
    Settings,
    Space,
    Sweep,
    TrainingRules,
    condition_text,
)
from clar_tune.space.parse import parse_space

__all__ = [
    "COEFFICIENTS",
    "SAMPLERS",
    "Condition",
    "Correlate",
    "Levels",
    "SearchRules",
    "Settings",
    "Space",
    "Sweep",
    "TrainingRules",
    "check_sampler",
    "condition_text",
    "load_space",
    "parse_space",
    "shipped_spaces",
]
