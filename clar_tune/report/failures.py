"""What went wrong: failed trials, retries and failed finals, alike ones together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clar_tune.analysis import RunView, StudyView
from clar_tune.report.builders.studies import label_of, studies_in, title_of
from clar_tune.report.texts import name, sentence
from clar_tune.rows import TrialRow

MOST = 300
"""Different troubles that a page shows."""
LONGEST = 12_000
"""Characters of one text that a page shows."""
SHORT = 140
"""A text of so many characters in one line is not folded."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One cause in one study, and the trials that it struck."""

    study: str
    graph: str
    method: str
    kind: str
    trials: tuple[int, ...]
    head: str
    text: str
    """All of it, where the head is not all."""

    @property
    def numbers(self) -> str:
        """The trials, or the first of them."""
        shown = ", ".join(map(str, self.trials[:8]))
        return f"{shown} …" if len(self.trials) > 8 else shown


@dataclass(frozen=True, slots=True)
class Failures:
    """What a page shows, and what it leaves out."""

    troubles: tuple[Trouble, ...]
    failed: int
    """Trials that failed."""
    trials: int
    left_out: int
    """Different troubles that are not shown."""


def failures_of(runs: Sequence[RunView]) -> Failures:
    """All that went wrong, the most frequent causes first."""
    studies = [study for _, study in studies_in(runs)]
    found = [
        trouble
        for run, study in studies_in(runs)
        for trouble in _troubles(study, label_of(run, study))
    ]
    found.sort(key=lambda trouble: (trouble.kind == "noted", -len(trouble.trials)))
    return Failures(
        troubles=tuple(found[:MOST]),
        failed=sum(study.count("failed") for study in studies),
        trials=sum(len(study.trials) for study in studies),
        left_out=max(0, len(found) - MOST),
    )


def _troubles(study: StudyView, label: str) -> Iterator[Trouble]:
    struck: dict[tuple[str, str], list[int]] = {}
    for trial in study.trials:
        for cause in _causes(trial):
            struck.setdefault(cause, []).append(trial.trial)
    for (kind, text), trials in struck.items():
        first, _, rest = text.partition("\n")
        folded = bool(rest) or len(text) > SHORT
        yield Trouble(
            study=title_of(study),
            graph=study.graph,
            method=label,
            kind=name(kind),
            trials=tuple(trials),
            head=sentence(first)[:SHORT] + ("…" if len(first) > SHORT else ""),
            text=_cut(text) if folded else "",
        )


def _causes(trial: TrialRow) -> Iterator[tuple[str, str]]:
    if trial.failure is not None:
        yield trial.failure, trial.error or "no text"
    for note in trial.notes:
        yield "noted", note


def _cut(text: str) -> str:
    more = len(text) - LONGEST
    return text if more <= 0 else f"{text[:LONGEST]}\n… and {more:,} more characters"
