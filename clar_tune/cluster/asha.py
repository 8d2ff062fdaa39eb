"""Successive halving over repeats: one Ray ASHA per study."""

from ray.tune.schedulers import ASHAScheduler, TrialScheduler

from clar_tune.cluster.ray_internals import CONTROLLER, asha_trial


class Asha:
    """Judges trials by their mean score at 1, r, r², … repeats.

    A trial stops at a rung if its score is below the best 1/r of the scores recorded there
    before. Trials are known to ASHA by their number, so that stored results rebuild its rungs.
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
        self._repeats = repeats
        self._open: set[int] = set()  # trials that Ray's ASHA knows and that have not stopped

    def __call__(self, trial: int, repeats: int, mean: float) -> bool:
        """Whether a trial goes on."""
        goes_on = self._reported(trial, repeats, mean)
        if not goes_on:
            result = {"repeats": repeats, "score": mean}
            self._asha.on_trial_complete(CONTROLLER, asha_trial(trial), result)
            self._open.remove(trial)
        return goes_on

    def record(self, trial: int, repeats: int, mean: float) -> None:
        """Put a score on its rung, whatever is decided of it: that was done when it arrived."""
        if repeats < self._repeats:
            self._reported(trial, repeats, mean)

    def _reported(self, trial: int, repeats: int, mean: float) -> bool:
        if trial not in self._open:
            self._open.add(trial)
            self._asha.on_trial_add(CONTROLLER, asha_trial(trial))
        result = {"repeats": repeats, "score": mean}
        decision = self._asha.on_trial_result(CONTROLLER, asha_trial(trial), result)
        return bool(decision == TrialScheduler.CONTINUE)
