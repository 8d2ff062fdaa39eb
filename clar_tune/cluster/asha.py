"""Successive halving over repeats: one Ray ASHA per study."""

from ray.tune.experiment import Trial
from ray.tune.schedulers import ASHAScheduler, TrialScheduler

from clar_tune.cluster.ray_internals import CONTROLLER, asha_trial


class Asha:
    """Judges trials by their mean score at 1, r, r², … repeats.

    A trial stops at a rung if its score is below the best 1/r of the scores recorded there
    before. Trials are known to ASHA by their number, so that the same results in the same
    order rebuild the same rungs.
    """

    def __init__(self, repeats: int, reduction: int, maximise: bool) -> None:
        self._asha = ASHAScheduler(
            time_attr="repeats",
            metric="score",
            mode="max" if maximise else "min",
            max_t=repeats,
            grace_period=1,
            reduction_factor=reduction,
            brackets=1,
        )
        self._known: dict[int, Trial] = {}

    def __call__(self, trial: int, repeats: int, mean: float) -> bool:
        """Whether a trial goes on."""
        if trial not in self._known:
            self._known[trial] = asha_trial(trial)
            self._asha.on_trial_add(CONTROLLER, self._known[trial])
        result = {"repeats": repeats, "score": mean}
        decision = self._asha.on_trial_result(CONTROLLER, self._known[trial], result)
        if decision == TrialScheduler.STOP:
            self._asha.on_trial_complete(CONTROLLER, self._known[trial], result)
        return bool(decision == TrialScheduler.CONTINUE)
