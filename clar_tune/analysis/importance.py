"""Which parameters decided whether a configuration was among the best of its study."""

import math
import warnings
from collections.abc import Mapping, Sequence

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import create_trial

from clar_tune.analysis.runs import StudyView
from clar_tune.analysis.search_space import Searched, place, range_of, searched
from clar_tune.metric import metric_named
from clar_tune.records import HINTS, Params, Value
from clar_tune.space import Choice, Range

optuna.logging.set_verbosity(optuna.logging.ERROR)  # else it tells of every study it creates

FEWEST = 8
"""Trials with a score below which nothing is said."""
TRUSTED = 30
"""Trials from which on a large effect is seen.

Of five parameters of which one has three times the effect of the noise, that one comes first in
60 % of searches of 8 trials and in 96 % of those of 30. One with the effect of the noise needs
more: 48 % at 30 trials, 96 % at 120.
"""
BEST_SHARE = 0.25
"""Share of the trials that count as the best ones …"""
FEWEST_BEST = 5
"""… or this many, if they are no more than half."""


def importances(study: StudyView) -> dict[str, float]:
    """Share of each searched parameter in being among the best; the largest first, sum 1.

    Optuna's PED-ANOVA: how far the values of the best quarter differ from those of all trials.
    Each trial is judged by its first repeat. Most are pruned after it, so it is the only score
    that all have, and since all trials of a study meet the same split and the same initial
    weights in it, it is a paired one. Means over more repeats exist for the good ones only; a
    search space of survivors would hide what made the others fail. A trial that diverged or ran
    out of memory before any score ranks last, as it does for the sampler.

    A parameter that is not always active counts where it is. Choices that are numbers in
    ascending order count as neighbours, as in the search. Shares add up to 1 even where nothing
    matters: the largest of five is about one half in pure noise, with 30 trials as with 120.
    Empty with fewer than ``FEWEST`` scores, or if nothing varies. The study must have been read
    with its curves.
    """
    losses = _losses(study)
    if len(set(losses.values())) < 2:
        return {}
    found = searched(study)
    names = _varying([found.chosen[number] for number in losses])
    if not names:
        return {}
    with warnings.catch_warnings():  # about parameters that few trials have
        warnings.simplefilter("ignore")
        shares = get_param_importances(
            _in_memory(losses, found),
            evaluator=PedAnovaImportanceEvaluator(target_quantile=_share(losses)),
            params=names,
        )
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def _varying(chosen: Sequence[Params]) -> list[str]:
    """Parameters in which configurations differ; not to have one is a value too."""
    names = sorted({name for own in chosen for name in own})
    values = {name: {(name in own, str(own.get(name))) for own in chosen} for name in names}
    return [name for name in names if len(values[name]) > 1]


def _losses(study: StudyView) -> dict[int, float]:
    """By trial, its score in the first repeat, turned so that low is good; none if too few."""
    rank = metric_named(study.metric).rank
    losses = {
        trial.trial: -rank(study.curves[trial.trial][0])
        for trial in study.trials
        if trial.trial in study.curves and math.isfinite(study.curves[trial.trial][0])
    }
    if len(losses) < FEWEST:
        return {}
    last = max(losses.values()) + 1.0
    blamed = [trial.trial for trial in study.trials if trial.failure in HINTS]
    return {**dict.fromkeys(blamed, last), **losses}


def _share(losses: Mapping[int, float]) -> float:
    """Share of trials that count as the best; scores that equal the worst one never do."""
    count, worst = len(losses), max(losses.values())
    better = sum(loss < worst for loss in losses.values())
    return min(max(BEST_SHARE, min(0.5, FEWEST_BEST / count)), (better - 0.5) / count)


def _in_memory(losses: Mapping[int, float], found: Searched) -> optuna.Study:
    distributions = {name: _distribution(domain) for name, domain in found.domains.items()}
    study = optuna.create_study(direction="minimize")
    for number, loss in losses.items():
        chosen = found.chosen[number]
        params = {name: _internal(found.domains[name], value) for name, value in chosen.items()}
        own = {name: distributions[name] for name in chosen}
        study.add_trial(create_trial(value=loss, params=params, distributions=own))
    return study


def _distribution(domain: Range | Choice) -> BaseDistribution:
    if isinstance(domain, Range):
        return range_of(domain)
    if domain.ordered:
        return IntDistribution(0, domain.count - 1)
    return CategoricalDistribution(range(domain.count))


def _internal(domain: Range | Choice, value: Value) -> Value:
    return place(domain, value) if isinstance(domain, Choice) else value
