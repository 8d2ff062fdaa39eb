"""Successive halving over repeats: one Ray ASHA per study."""

from types import SimpleNamespace
from typing import Any, cast

from ray.tune.schedulers import ASHAScheduler, TrialScheduler


class Rungs:
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
        self._known: dict[int, Any] = {}

    def __call__(self, trial: int, repeats: int, mean: float) -> bool:
        """Whether a trial goes on."""
        # ASHA's hooks read a trial's id and nothing else, and never the controller.
        controller = cast(Any, None)
        if trial not in self._known:
            self._known[trial] = SimpleNamespace(trial_id=str(trial))
            self._asha.on_trial_add(controller, self._known[trial])
        result = {"repeats": repeats, "score": mean}
        decision = self._asha.on_trial_result(controller, self._known[trial], result)
        if decision == TrialScheduler.STOP:
            self._asha.on_trial_complete(controller, self._known[trial], result)
        return bool(decision == TrialScheduler.CONTINUE)
