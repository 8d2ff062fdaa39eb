"""Stored studies as Optuna sees them: what mattered in them, and files that its tools open."""

import optuna

from clar_tune.optuna_studies.export import check_target, export, opened_by
from clar_tune.optuna_studies.importance import importances
from clar_tune.optuna_studies.searched import space_of

__all__ = ["check_target", "export", "importances", "opened_by", "space_of"]

optuna.logging.set_verbosity(optuna.logging.ERROR)  # else it tells of every study it creates
