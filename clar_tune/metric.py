"""What results are judged by, and which of two scores is the better one."""

from collections.abc import Iterable
from dataclasses import dataclass

from clar_tune.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Metric:
    """One way to score predictions."""

    name: str
    higher_is_better: bool = True
    percent: bool = True
    """Whether it is a fraction that is printed in percent."""
    bounds: tuple[float, float] = (0.0, 1.0)

    def rank(self, score: float) -> float:
        """A number that is higher for better scores."""
        return score if self.higher_is_better else -score

    def best(self, scores: Iterable[float]) -> float:
        """The best of some scores."""
        return max(scores, key=self.rank)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy"),
        Metric("roc_auc"),
        Metric("mse", higher_is_better=False, percent=False, bounds=(0.0, float("inf"))),
    )
}


def metric_named(name: str) -> Metric:
    """A metric by the name that rows and graphs have for it."""
    if name not in METRICS:
        raise UnknownName("metric", name, METRICS)
    return METRICS[name]
