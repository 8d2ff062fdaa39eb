"""The winner that a command is asked for: by its run, graph, method and condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.version import NUMBERS_VERSION

if TYPE_CHECKING:
    from clar_tune.analysis import RunView, StudyView
    from clar_tune.configuration import Configuration

FILE = ".json"
"""What the name of a file ends with; that of a run never does."""


def configuration_from(source: str, named: Mapping[str, str | None], store: str) -> Configuration:
    """The configuration that a run, or a file, has under these names."""
    from clar_tune.analysis import configuration_of
    from clar_tune.fits import load_configuration

    if not source.endswith(FILE):
        return _warned(configuration_of(*study_named(source, named, store)), source)
    configuration = _warned(load_configuration(source), source)
    for side, name in named.items():
        has = getattr(configuration, side)
        if name not in (None, has):
            raise ParameterError(
                f"--{side} {name}: {source} has {has or 'none'}. Leave the option out."
            )
    return configuration


def _warned(configuration: Configuration, source: str) -> Configuration:
    """Say where the same training gives other numbers by now."""
    if configuration.numbers != NUMBERS_VERSION:
        click.echo(
            f"{source}: its numbers are of version {configuration.numbers}, this program makes "
            f"version {NUMBERS_VERSION}: scores will differ",
            err=True,
        )
    return configuration


def study_named(
    run: str, named: Mapping[str, str | None], store: str
) -> tuple[RunView, StudyView]:
    """A study that has a winner, and its run; of repeated searches the one that validates best."""
    from clar_tune.analysis import best_search, read_run
    from clar_tune.store import Store

    opened = Store.open(store)
    view = read_run(opened, opened.find(run).name)
    studies = [study for study in view.studies if study.best]
    wanted = _asked_for(named, studies, view.name)
    study = best_search([s for s in studies if (s.graph, s.method, s.condition) == wanted])
    if study is None:
        names = [f"{s.graph} {s.method} {s.condition}".strip() for s in studies]
        raise UnknownName(f"winner in {view.name}", " ".join(wanted).strip(), names)
    return view, study


def _asked_for(
    named: Mapping[str, str | None], studies: Sequence[StudyView], run: str
) -> tuple[str, ...]:
    """What names a study, where there is but one choice of what was left out."""
    fitting = [s for s in studies if all(v in (None, getattr(s, n)) for n, v in named.items())]
    found, open_ = dict[str, str](), dict[str, list[str]]()
    for side, name in named.items():
        choices = list(dict.fromkeys(getattr(study, side) for study in fitting))
        if name is not None or len(choices) < 2:
            found[side] = name or "".join(choices)
        elif side == "condition" and "" in choices:
            found[side] = ""
        else:
            open_[side] = choices
    if open_:
        listed = "; ".join(f"--{side}: {', '.join(names)}" for side, names in open_.items())
        raise click.UsageError(f"which winner of {run}? {listed}.")
    return tuple(found.values())
