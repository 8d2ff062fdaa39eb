"""What a set of studies is to be compared for, whatever came out of them."""

from collections.abc import Iterable
from typing import NamedTuple

from clar_tune.analysis.layout import Place, split_label, whole_condition
from clar_tune.analysis.records import CHAMPION
from clar_tune.conditions import most_alike
from clar_tune.graphs import VARIANTS

Pair = tuple[Place, Place]


class Planned(NamedTuple):
    """A comparison of two places."""

    place: Place
    against: Place
    rival: bool

    @property
    def pair(self) -> Pair:
        """Both places."""
        return self.place, self.against


class PlannedCell(NamedTuple):
    """A regularized method on a row, and its plain backbone, if that is planned too."""

    place: Place
    plain: Place | None

    @property
    def regularizer(self) -> str:
        """Its name."""
        return regularizer_of(self.place)


def regularizer_of(place: Place) -> str:
    """``clar`` of a place of ``gcn+clar``; empty for a plain backbone."""
    return split_label(place[2])[0].partition("+")[2]


def backbone_of(place: Place) -> str:
    """``gcn`` of a place of ``gcn+clar`` or of ``gcn``."""
    return split_label(place[2])[0].partition("+")[0]


def cells_of(places: Iterable[Place]) -> list[PlannedCell]:
    """Every place with a regularizer."""
    known = list(dict.fromkeys(places))
    plains = _by_method(known)
    return [
        PlannedCell(place, _most_alike(place, plains.get((place[0], backbone_of(place)), [])))
        for place in known
        if regularizer_of(place)
    ]


def family_of(places: Iterable[Place]) -> list[Planned]:
    """Every comparison of winners: with the plain backbone, of clar with each rival."""
    known = list(dict.fromkeys(places))
    rows: dict[tuple[str, str], list[Place]] = {}
    for place in known:
        rows.setdefault(place[:2], []).append(place)
    planned = []
    for place, plain in cells_of(known):
        if plain:
            planned.append(Planned(place, plain, rival=False))
        if regularizer_of(place) == CHAMPION:
            others = (other for other in rows[place[:2]] if _are_rivals(place, other))
            planned += [Planned(place, other, rival=True) for other in others]
    return planned


def backbones_of(places: Iterable[Place], baseline: str) -> list[Planned]:
    """Every plain backbone with the one that others are measured by, under equal conditions."""
    known = list(dict.fromkeys(places))
    plains = _by_method(known)
    planned = []
    for place in known:
        if not regularizer_of(place) and backbone_of(place) != baseline:
            against = _most_alike(place, plains.get((place[0], baseline), []))
            if against:
                planned.append(Planned(place, against, rival=False))
    return planned


def _by_method(places: Iterable[Place]) -> dict[tuple[str, str], list[Place]]:
    """Places of each graph and method."""
    found: dict[tuple[str, str], list[Place]] = {}
    for place in places:
        found.setdefault((place[0], split_label(place[2])[0]), []).append(place)
    return found


def _most_alike(place: Place, plains: Iterable[Place]) -> Place | None:
    """The plain backbone under the same condition."""
    conditions = ((whole_condition(plain), plain) for plain in plains)
    return most_alike(whole_condition(place), conditions, VARIANTS)


def _are_rivals(place: Place, other: Place) -> bool:
    same = backbone_of(place) == backbone_of(other)
    return same and regularizer_of(other) not in ("", CHAMPION)
