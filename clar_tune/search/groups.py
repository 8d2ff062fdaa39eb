"""Studies that exchange points, and when they are all ready for it."""

from collections.abc import Iterator, Sequence

from clar_tune.search.exchange import Searched, exchange_points
from clar_tune.search.study import StudyState
from clar_tune.space import Group


class Groups:
    """The studies of each backbone, on each graph and under each condition, that exchange."""

    def __init__(self, studies: Sequence[StudyState]) -> None:
        self._members: dict[Group, list[StudyState]] = {}
        for study in studies:
            if study.plan.exchanged:
                self._members.setdefault(study.plan.group, []).append(study)

    def ready_with(self, study: StudyState) -> list[StudyState]:
        """Studies that waited until what has just ended, and may ask now; they get their points.

        One whose trials have all failed, or whose space is used up, holds nobody up.
        """
        members = self._members.get(study.plan.group, []) if study.plan.exchanged else []
        if study.points is not None or not all(member.searched for member in members):
            return []
        found = {member.place: Searched(member.plan, member.first_trials) for member in members}
        for member in members:
            others = [found[other.place] for other in members if other is not member]
            points = exchange_points(found[member.place], others) if member.waits else []
            member.points = tuple(points)
        return [member for member in members if member.may_ask]

    def __iter__(self) -> Iterator[StudyState]:
        """One study of each group."""
        return (members[0] for members in self._members.values())
