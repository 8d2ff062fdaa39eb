"""Which finals follow from what has ended: of a study, and of those that waited for it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clar_tune.search.study import StudyState


class Final(NamedTuple):
    """One training of a winner."""

    study: StudyState
    arm: str
    number: int


class Confirmation:
    """Confirms the winners of studies, each crossed with the plain winner of its group."""

    def __init__(self, studies: Sequence[StudyState]) -> None:
        plains = {s.plan.group: s for s in studies if s.plan.columns.regularizer == "none"}
        self._plain = {
            study.place: plains[study.plan.group]
            for study in studies
            if "cross" in study.plan.arms and study.plan.group in plains
        }
        self._crossed: dict[int, list[StudyState]] = {}
        for study in studies:
            if study.place in self._plain:
                self._crossed.setdefault(self._plain[study.place].place, []).append(study)

    def finals_after(self, study: StudyState) -> Iterator[Final]:
        """Finals that can be trained once a study has settled, its own and those of others."""
        yield from self._missing(study)
        for other in self._crossed.get(study.place, ()):
            if other.finals.awaits_plain:
                yield from (final for final in self._missing(other) if final.arm == "cross")

    def _missing(self, study: StudyState) -> Iterator[Final]:
        plain = self._plain.get(study.place)
        if plain is None:
            study.finals.cross(None)
        elif plain.settled:
            study.finals.cross(plain.best.params if plain.best else None)
        yield from (Final(study, arm, number) for arm, number in study.finals.missing())
