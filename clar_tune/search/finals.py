"""The finals of one study: what each arm of its winner trains, and which of them are done."""

from collections.abc import Iterator

from clar_tune.models import arms_of
from clar_tune.precision import Scores
from clar_tune.records import Params
from clar_tune.search.sampler import identity
from clar_tune.space import StudyPlan
from clar_tune.switches import ARMS

ORDER = ("on", *ARMS)
"""Arms in the order in which they are trained: when time runs out, scores are whole first."""


class Finals:
    """Which finals a winner is to have.

    A final is known by its arm, its parameters and its number, not by its trial: two winners of
    a study, one after the other, may share an arm, whose training is then done once.
    """

    def __init__(self, plan: StudyPlan) -> None:
        self._plan = plan
        self.each = plan.finals
        """How many each arm is to have."""
        self.arms: dict[str, Params] = {}
        """What each arm trains; none before the winner is chosen."""
        self.awaits_plain = False
        """Whether the winner is to be crossed with a plain one that is not known yet."""
        self.failed: set[tuple[str, int]] = set()
        """Arm and number of those that this driver gave up."""
        self._winner: Params | None = None
        self._names: dict[str, tuple[str, str]] = {}  # under which those of each arm are kept
        self._done: dict[tuple[str, str], dict[int, float]] = {}  # seconds by number
        self._scores: dict[tuple[str, str], dict[int, float]] = {}

    def choose(self, winner: Params) -> None:
        """Take in the winner's parameters; which plain winner it is crossed with comes later."""
        arms = arms_of(self._plan.method, winner, plain_winner=winner)
        wanted = [arm for arm in ORDER if arm in arms and arm in ("on", *self._plan.arms)]
        self._winner = winner
        self.awaits_plain = "cross" in wanted
        self.arms = {}
        for arm in wanted:
            if arm != "cross":
                self._add(arm, arms[arm].params)

    def cross(self, plain_winner: Params | None) -> None:
        """Take in the plain winner's parameters, if there is one."""
        if self.awaits_plain and self._winner is not None and plain_winner is not None:
            arms = arms_of(self._plan.method, self._winner, plain_winner)
            self._add("cross", arms["cross"].params)
        self.awaits_plain = False

    def _add(self, arm: str, params: Params) -> None:
        self.arms[arm], self._names[arm] = params, (arm, identity(params))

    def record(self, arm: str, params: Params, number: int, seconds: float, score: float) -> None:
        """Take in one final.

        Its test score is kept for one purpose alone: where the precision of effects decides how
        many finals there are, the first ones tell.
        """
        name = arm, identity(params)
        self._done.setdefault(name, {})[number] = seconds
        if self._plan.precision is not None and number < self._plan.precision.at_least:
            self._scores.setdefault(name, {})[number] = score

    def missing(self) -> list[tuple[str, int]]:
        """Arm and number of those that are still to be trained."""
        return [
            (arm, number)
            for arm, done in self._of_winner()
            for number in range(self.each)
            if number not in done
        ]

    def lacks(self, arm: str, number: int) -> bool:
        """Whether a final was neither done nor given up."""
        return (arm, number) in self.missing() and (arm, number) not in self.failed

    @property
    def complete(self) -> bool:
        """Whether there is a winner that has all of them."""
        return bool(self.arms) and not self.awaits_plain and not self.missing()

    @property
    def has_more(self) -> bool:
        """Whether more time would bring some that were not tried."""
        return self.awaits_plain or bool(set(self.missing()) - self.failed)

    @property
    def first_scores(self) -> dict[str, Scores]:
        """Test scores of the first finals of each arm, where precision decides their number."""
        return {arm: self._scores.get(self._names[arm], {}) for arm in self.arms}

    @property
    def beyond_first(self) -> bool:
        """Whether more than the first were trained: their number was decided before."""
        return any(number >= self._plan.finals for _, done in self._of_winner() for number in done)

    @property
    def wanted(self) -> int:
        """How many there are to be, as far as that is known."""
        arms = len(self.arms) + self.awaits_plain if self.arms else 1 + len(self._plan.arms)
        return self.each * arms

    @property
    def seconds(self) -> list[float]:
        """What those of the winner took, one by one."""
        return [
            seconds
            for _, done in self._of_winner()
            for number, seconds in done.items()
            if number < self.each
        ]

    def _of_winner(self) -> Iterator[tuple[str, dict[int, float]]]:
        for arm in ORDER:
            if arm in self.arms:
                yield arm, self._done.get(self._names[arm], {})
