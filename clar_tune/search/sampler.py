"""One Optuna study per study of a run: it proposes configurations and hears what came of them."""

import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler
from optuna.trial import TrialState

from clar_tune.records import Params, Value
from clar_tune.search.start_up import KNOWN, StartUp
from clar_tune.seeds import seed_for
from clar_tune.space import Choice, Parameter, Range, StudyPlan, same

ATTEMPTS = 20
"""How often a configuration that was tried before is asked again."""

ENUMERABLE = 100_000
"""Up to this size, what is left of a finite space is listed."""

optuna.logging.set_verbosity(optuna.logging.ERROR)


def _tpe(seed: int, startup: int) -> BaseSampler:
    # `group` keeps parameters that depend on others in the joint model; the liar keeps
    # proposals apart that are made at the same time.
    with warnings.catch_warnings():  # that `group` may change is known
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return TPESampler(
            seed=seed, n_startup_trials=startup, multivariate=True, group=True, constant_liar=True
        )


def _gp(seed: int, startup: int) -> BaseSampler:
    return GPSampler(seed=seed, n_startup_trials=startup, deterministic_objective=False)


def _random(seed: int, startup: int) -> BaseSampler:
    return RandomSampler(seed=seed)


LEARNERS: dict[str, Callable[[int, int], BaseSampler]] = {
    "tpe": _tpe,
    "gp": _gp,
    "random": _random,
}
"""Samplers of Optuna; ``grid`` needs none."""


class Sampler:
    """Proposals for one study.

    Randomness of proposal ``n`` comes from (seed, study, n) alone, and all else from what was
    told before: a study rebuilt from stored trials goes on as an uninterrupted one would.
    """

    def __init__(self, plan: StudyPlan, *, maximise: bool) -> None:
        self._plan, self._parameters = plan, plan.parameters
        self._count = plan.parameters.count
        self._study = optuna.create_study(direction="maximize" if maximise else "minimize")
        self._trials: dict[int, optuna.Trial] = {}
        self._used: set[str] = set()
        self._cells: Iterator[dict[str, Value]] | None = None
        self._start_up = StartUp(plan)

    @property
    def used_up(self) -> bool:
        """Whether every configuration was tried."""
        return len(self._used) == self._count

    def propose(self, number: int) -> dict[str, Value] | None:
        """The complete configuration of trial ``number``; ``None`` if the space is used up."""
        if self.used_up:
            return None
        if self._plan.rules.sampler == "grid":
            return self._propose_cell(number)
        for attempt in range(ATTEMPTS):
            params = self._draw(number, attempt)
            if params is not None:
                return params
        return self._propose_unused(number)

    def has_tried(self, params: Params) -> bool:
        """Whether a complete configuration was tried before."""
        return identity(self._plan.complete(params)) in self._used

    def origin(self, number: int) -> str:
        """Where the configuration of trial ``number`` comes from, unless it is exchanged."""
        if self._plan.rules.sampler == "grid" or number >= self._plan.startup:
            return "sampler"
        return "known" if number < KNOWN else "start-up"

    def start(self, number: int, params: Params) -> None:
        """Take in a configuration that was drawn without Optuna, or stored before."""
        self._used.add(identity(self._plan.complete(params)))
        # The sampler is not asked for values that are given; a random one costs nothing.
        self._study.sampler = RandomSampler(seed=0)
        self._study.enqueue_trial(self._internal(params), skip_if_exists=False)
        trial = self._study.ask()
        self._suggest(trial)
        self._trials[number] = trial

    def complete(self, number: int, score: float) -> None:
        """Tell the score of a trial with all its repeats."""
        self._study.tell(self._trials.pop(number), score)

    def prune(self, number: int, score: float, repeats: int) -> None:
        """Tell the score of a trial that was stopped, with the repeats it had."""
        trial = self._trials.pop(number)
        trial.report(score, repeats)
        self._study.tell(trial, state=TrialState.PRUNED)

    def fail(self, number: int, *, hints: bool) -> None:
        """Tell that a trial failed.

        ``hints``: its parameters are to blame. Pruned without a value, it ranks last; a
        failed trial would be forgotten, and its neighbourhood proposed again.
        """
        state = TrialState.PRUNED if hints else TrialState.FAIL
        self._study.tell(self._trials.pop(number), state=state)

    def _draw(self, number: int, attempt: int) -> dict[str, Value] | None:
        """A configuration that was not tried before, or ``None``."""
        rules, plan = self._plan.rules, self._plan
        if number < KNOWN and not attempt:
            return self._accepted(number, self._start_up.known())
        if number < plan.startup:
            return self._accepted(number, self._start_up.point(number, attempt))
        seed = self._seed(number, attempt) % 2**32
        self._study.sampler = LEARNERS[rules.sampler](seed, plan.startup)
        trial = self._study.ask()
        params = plan.complete(self._suggest(trial))
        if identity(params) in self._used:
            self._study.tell(trial, state=TrialState.FAIL)
            return None
        self._used.add(identity(params))
        self._trials[number] = trial
        return params

    def _accepted(self, number: int, chosen: Params) -> dict[str, Value] | None:
        params = self._plan.complete(chosen)
        if identity(params) in self._used:
            return None
        self.start(number, params)
        return params

    def _propose_cell(self, number: int) -> dict[str, Value] | None:
        """The next cell of the grid, in an order that the seed shuffles."""
        if self._cells is None:
            cells = list(self._parameters.configurations())
            draw = np.random.Generator(np.random.PCG64(self._seed()))
            self._cells = (cells[place] for place in draw.permutation(len(cells)))
        fresh = (self._accepted(number, cell) for cell in self._cells)
        return next((params for params in fresh if params is not None), None)

    def _propose_unused(self, number: int) -> dict[str, Value] | None:
        """What asking did not find: one of the configurations that are left."""
        left: Any = ()
        if self._count is not None and self._count <= ENUMERABLE:
            left = self._parameters.configurations()
        drawn = (self._start_up.drawn(number, ATTEMPTS + extra) for extra in range(1000))
        fresh = (self._accepted(number, chosen) for chosen in itertools.chain(drawn, left))
        return next((params for params in fresh if params is not None), None)

    def _suggest(self, trial: optuna.Trial) -> dict[str, Value]:
        chosen: dict[str, Value] = {}
        for parameter in self._parameters:
            if parameter.active(chosen):
                chosen[parameter.name] = _suggested(trial, parameter)
        return chosen

    def _internal(self, params: Params) -> dict[str, Any]:
        """A complete configuration as Optuna holds it."""
        chosen: dict[str, Value] = {}
        internal: dict[str, Any] = {}
        defaults = self._plan.method.parameters()  # of what a configuration does not name
        for parameter in self._parameters:
            if parameter.active(chosen):
                name = parameter.name
                value = chosen[name] = params.get(name, defaults[name])
                if isinstance(parameter.domain, Choice):
                    internal[name] = _place(parameter.domain, value)
                elif isinstance(parameter.domain, Range):
                    internal[name] = value
        return internal

    def _seed(self, *of: int) -> int:
        c = self._plan.columns
        return seed_for("ask", self._plan.seed, c.graph, c.method, c.condition, *of)


def _suggested(trial: optuna.Trial, parameter: Parameter) -> Value:
    name, domain = parameter.name, parameter.domain
    if isinstance(domain, Range):
        if domain.integer:
            return trial.suggest_int(name, int(domain.low), int(domain.high), log=domain.log)
        return trial.suggest_float(name, domain.low, domain.high, log=domain.log)
    if isinstance(domain, Choice):
        places = range(len(domain.values))
        if domain.ordered:  # numbers in order: a neighbour of a good one is likely good too
            return domain.values[trial.suggest_int(name, 0, places[-1])]
        return domain.values[trial.suggest_categorical(name, list(places))]
    return domain.value


def _place(domain: Choice, value: Value) -> int:
    """Where a value stands among the choices; ``1`` and ``1.0`` are one, ``True`` is not."""
    return next(place for place, choice in enumerate(domain.values) if same(value, choice))


def identity(params: Params) -> str:
    """What equal configurations share."""
    return json.dumps(params, sort_keys=True)
