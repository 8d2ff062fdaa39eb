"""Spaces: YAML files that say what is searched, how it is trained and how it is confirmed."""

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
from clar_tune.space.reader import parse_space
from clar_tune.space.shipped import load_space, shipped_spaces
from clar_tune.space.validate import check_sampler

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
