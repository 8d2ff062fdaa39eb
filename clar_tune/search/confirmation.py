"""Which finals follow from what has ended: of a study, and of those that waited for it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clar_tune.precision import finals_of_graph, first_effects
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
        self._on_graph: dict[str, list[StudyState]] = {}
        for study in studies:
            self._on_graph.setdefault(study.plan.columns.graph, []).append(study)
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

    def more_after(self, study: StudyState) -> list[Final]:
        """Further finals of a graph, once its first ones tell how many its effects need.

        That is the largest number that an effect of it needs, and all of its studies get it. A
        first final that was given up holds nobody up: its effect does not count then.
        """
        rule, graph = study.plan.precision, self._on_graph[study.plan.columns.graph]
        if rule is None or not all(one.settled for one in graph):
            return []
        if any(one.finals.has_more for one in graph) and not any(
            one.finals.beyond_first for one in graph
        ):
            return []
        effects = [first for one in graph if (first := self._first_effects(one, rule.at_least))]
        wanted, found = finals_of_graph(effects, rule), list[Final]()
        for one in graph:
            before = one.finals.each
            one.finals.each = max(before, wanted)
            found += [Final(one, a, n) for a, n in one.finals.missing() if n >= before]
        return found

    def _first_effects(self, study: StudyState, count: int) -> list[float] | None:
        plain = self._plain.get(study.place)
        beside = plain.finals.first_scores.get("on", {}) if plain else {}
        return first_effects(study.finals.first_scores, beside, count)

    def _missing(self, study: StudyState) -> Iterator[Final]:
        plain = self._plain.get(study.place)
        if plain is None:
            study.finals.cross(None)
        elif plain.settled:
            study.finals.cross(plain.best.params if plain.best else None)
        yield from (Final(study, arm, number) for arm, number in study.finals.missing())
