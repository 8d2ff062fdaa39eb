"""Modules of the user's that workers on other machines need."""

import importlib.util
import json
import os
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from clar_tune.models.method import Method

JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""What Ray tells a submitted job about itself, as JSON."""


def modules_of(methods: Iterable[Method]) -> list[Path]:
    """The package folder or module file of every backbone and regularizer of the user's own.

    What is installed is not among them: it is installed on the other machines too. Nothing is,
    for a submitted job with which the user's folder or modules travelled already.
    """
    if _travelled():
        return []
    names = [name for method in methods for name in (method.backbone, method.regularizer)]
    own = dict.fromkeys(name.partition(":")[0].partition(".")[0] for name in names if ":" in name)
    places = [_place(name) for name in own]
    return [place for place in places if place is not None and not _installed(place)]


def _travelled() -> bool:
    environment = json.loads(os.environ.get(JOB, "{}")).get("runtime_env") or {}
    return bool(environment.get("working_dir") or environment.get("py_modules"))


def _place(name: str) -> Path | None:
    found = importlib.util.find_spec(name)
    if found is None:
        return None
    if found.submodule_search_locations:
        return Path(next(iter(found.submodule_search_locations))).resolve()
    return Path(found.origin).resolve() if found.has_location and found.origin else None


def _installed(place: Path) -> bool:
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}
    return any(place.is_relative_to(Path(folder).resolve()) for folder in folders)
