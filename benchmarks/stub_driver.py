"""A driver without Ray and torch: a small search whose trainings are arithmetic, in a real store.

`python -m benchmarks.stub_driver STORE RUN LOG`: begins a run or goes on with it. What a trial
tries depends on all scores before it, so a row that is lost, doubled or another's changes the
result. Every key that the store has acknowledged goes to the log. Errors end it as they end
``clar-tune``.
"""

import hashlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.store import some
from clar_tune.errors import ClarTuneError, UnknownName
from clar_tune.rows import FinalRow, RepeatRow, RunRow, TrialRow
from clar_tune.store import Access, RunWriter, Store, tables, writer

TRIALS, REPEATS, FINALS = 7, 3, 3
PAUSE = 0.02
"""Seconds of a training: there must be moments between rows."""


def score_of(lr: float, number: int) -> float:
    """What a training would score."""
    draw = hashlib.sha256(f"{lr!r} {number}".encode()).digest()[0] / 255
    return 1.0 - (lr - 0.3) ** 2 + 0.1 * draw


def key_of(lr: float, number: int) -> str:
    """Which training it is."""
    return hashlib.sha256(f"{lr!r} {number}".encode()).hexdigest()[:16]


class Search:
    """One study: trials one after the other, pruned after one repeat, then finals of the best."""

    def __init__(self, store: Store, run: RunWriter, log: Path) -> None:
        self._run, self._log = run, log
        self.trials = {row.trial: row for row in store.trials(run.name)}
        self.scores: dict[int, list[float]] = {number: [] for number in self.trials}
        for repeat in store.repeat_scores(run.name):
            if repeat.trial in self.scores:  # else it is that of a driver that overtook this one
                self.scores[repeat.trial].append(repeat.val_score)
        self.finals = {row.repeat for row in store.finals(run.name)}

    def work(self) -> None:
        """Do what is left."""
        for number in range(TRIALS):
            row = self.trials.get(number) or self._begun(number)
            whole = len(self.scores[number]) == row.repeats
            if row.state == "running" or not whole:
                self._train(replace(row, state="running"))
        best = max(
            range(TRIALS), key=lambda number: (len(self.scores[number]), self._mean(number))
        )
        lr = float(self.trials[best].params["lr"])
        for number in range(FINALS):
            if number not in self.finals:
                time.sleep(PAUSE)
                drawn = 100 + number
                self._append(
                    replace(
                        some(FinalRow),
                        trial=best,
                        repeat=number,
                        key=key_of(lr, drawn),
                        params={"lr": lr},
                        val_score=score_of(lr, drawn),
                        test_score=score_of(lr, drawn),
                    )
                )

    def _begun(self, number: int) -> TrialRow:
        """A trial between the best so far and somewhere else."""
        best = max(range(number), key=self._mean, default=None)
        middle = 0.9 if best is None else float(self.trials[best].params["lr"])
        lr = middle + (0.37 * (number + 1) % 1.0 - middle) / 2
        row = replace(some(TrialRow), trial=number, state="running", params={"lr": lr}, repeats=0)
        self.scores[number] = []
        self._append(row)
        return row

    def _train(self, row: TrialRow) -> None:
        lr, scores = float(row.params["lr"]), self.scores[row.trial]
        while len(scores) < REPEATS and not (len(scores) == 1 and self._pruned(row.trial)):
            time.sleep(PAUSE)
            number = len(scores)
            score = score_of(lr, number)
            repeat = replace(
                some(RepeatRow),
                trial=row.trial,
                repeat=number,
                key=key_of(lr, number),
                params={"lr": lr},
                val_score=score,
            )
            scores.append(score)
            self._append(repeat, replace(row, repeats=len(scores)))
        state = "complete" if len(scores) == REPEATS else "pruned"
        self._append(replace(row, state=state, repeats=len(scores)))

    def _pruned(self, number: int) -> bool:
        firsts = [self.scores[before][0] for before in range(number)]
        return bool(firsts) and self.scores[number][0] < median(firsts)

    def _mean(self, number: int) -> float:
        return sum(self.scores[number]) / len(self.scores[number])

    def _append(self, *rows: TrialRow | RepeatRow | FinalRow) -> None:
        self._run.append(rows)
        for row in rows:
            if isinstance(row, TrialRow):
                self.trials[row.trial] = row
            else:
                with self._log.open("a") as stream:
                    stream.write(f"{row.key}\n")


def main(url: str, name: str, log: Path) -> None:
    """Bring a run to its end."""
    tables.ROWS_PER_PART, tables.TRIALS_PER_PART = 8, 3  # several parts
    writer.LOCAL_PERIOD = writer.REMOTE_PERIOD = 0.05
    writer.FIRST_RETRY, writer.LAST_PATIENCE = 0.02, 30.0
    store = Store.open(url, access=Access())
    try:
        store.find(name)
    except (UnknownName, ClarTuneError):
        run = store.create(name, some(RunRow))
    else:
        store.check_free(name)
        run = store.reopen(name)
    Search(store, run, log).work()
    run.close(state="finished")


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    except ClarTuneError as error:
        sys.exit(f"clar-tune: {error}")
