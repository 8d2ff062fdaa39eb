"""How scores of a metric are written: percent and points, or as they are."""

from collections.abc import Iterable
from dataclasses import dataclass

from clar_tune.graphs import PROTOCOLS
from clar_tune.metric import metric_named

_NAMES = {"accuracy": "accuracy", "roc_auc": "ROC AUC", "mse": "MSE"}


@dataclass(frozen=True, slots=True)
class Unit:
    """What natural scores are multiplied by to be read, and what they are then called."""

    name: str
    percent: bool
    lower_is_better: bool

    @property
    def factor(self) -> int:
        """What a natural score is multiplied by."""
        return 100 if self.percent else 1

    @property
    def digits(self) -> str:
        """How Vega formats a score."""
        return ".2f" if self.percent else ".4~g"

    def title(self, what: str) -> str:
        """The title of an axis of scores: ``Validation accuracy (%)``."""
        return f"{what} {self.name}{' (%)' if self.percent else ''}"

    def score(self, value: float) -> str:
        """A score in prose: ``71.30 %``."""
        return f"{100 * value:.2f} %" if self.percent else f"{value:.4g}"

    def gain(self, value: float) -> str:
        """A difference in prose: ``+1.25 points``."""
        return f"{100 * value:+.2f} points" if self.percent else f"{value:+.3g}"


def unit_of(metrics: Iterable[str]) -> Unit:
    """The unit of scores that share an axis; errors such as mse are never percent."""
    found = set(metrics)
    lower = any(not metric_named(name).higher_is_better for name in found)
    name = _NAMES.get(next(iter(found)), "score") if len(found) == 1 else "score"
    return Unit(
        name, percent=all(metric_named(name).percent for name in found), lower_is_better=lower
    )


def score_title(unit: Unit, protocol: str) -> str:
    """The title of an axis of finals: without held-out nodes they are scored where they train."""
    return unit.title("Test" if PROTOCOLS[protocol].held_out else "Training")
