"""The finals of a cell arm by arm: the winner, its penalty off, and the plain winner's side."""

from dataclasses import dataclass

from clar_tune.analysis.arms import is_within
from clar_tune.analysis.runs import StudyView
from clar_tune.rows import FinalRow
from clar_tune.switches import is_off

Finals = tuple[FinalRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """Finals of one search of a regularized method, and of its plain backbone."""

    on: Finals
    plain: Finals
    off: Finals = ()
    cross: Finals = ()
    nl: Finals = ()
    any: Finals = ()
    unused: bool = False
    """Whether the winner's penalty is off: then it has no other arm, and no effect."""

    @property
    def known(self) -> bool:
        """Whether they tell an effect."""
        return self.unused or bool(self.off)


def arms_of(study: StudyView, plain: StudyView | None) -> Arms:
    """The arms of a study's winner, which has finals.

    Where both winners share all parameters of the backbone, the plain winner *is* the winner with
    its penalty off, and the winner is the plain one with the penalty on: nothing else need be
    trained.
    """
    beside = plain.finals if plain else ()
    chosen = study.best.params if study.best else {}
    shared = plain.best.params if plain and plain.best else None
    if is_off(study.method.partition("+")[2], chosen):
        return Arms(on=study.finals, plain=beside, unused=True)
    alike = shared is not None and is_within(shared, chosen)
    return Arms(
        on=study.finals,
        plain=beside,
        off=study.arm("off") or (beside if alike else ()),
        cross=study.arm("cross") or (study.finals if alike else ()),
        nl=study.arm("nl"),
        any=study.arm("any"),
    )
