"""Schedules a run: hands out jobs, judges what comes back, and writes it down first.

Knows neither Ray nor files: results come in through :meth:`Scheduler.receive`, rows go out
through ``write``, and all of its state can be rebuilt from the rows written before.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from clar_tune.rows import FinalRow, RepeatRow, RepeatScore, StudyKey, TrialRow
from clar_tune.search.hosts import Hosts
from clar_tune.search.jobs import Failure, Job, Outcome, TrainingResult, out_of_time
from clar_tune.search.limits import Limits
from clar_tune.search.study import MakeJudge, StudyState
from clar_tune.search.trial import Trial
from clar_tune.space import Plan

WITHOUT_GPU = (
    "trials asked for a GPU, and torch sees none where they run: they train on processors "
    "(`clar-tune doctor --address` tells which machine it is)"
)

MAX_RETRIES = 3
"""How often a job is handed out again after its worker was lost."""

Write = Callable[[Sequence[TrialRow | RepeatRow | FinalRow]], None]
"""Makes rows durable before it returns."""

CAUTION = 1.2
"""How much longer finals may take than the trainings before them."""


class Scheduler:
    """The state of a run between its first job and its last."""

    def __init__(
        self,
        plan: Plan,
        graph_hashes: Mapping[str, str],
        write: Write,
        make_judge: MakeJudge,
        limits: Limits | None = None,
        hosts: Hosts | None = None,
    ) -> None:
        self.plan, self.limits, self._write = plan, limits or Limits(), write
        self.hosts = hosts or Hosts()
        self._graph_hashes = graph_hashes
        self.studies = [
            StudyState(place, planned, make_judge) for place, planned in enumerate(plan.studies)
        ]
        self.live: dict[str, tuple[Job, float]] = {}
        """Jobs that are out, with the time at which they went."""
        self._waiting: set[str] = set()  # those of them that no worker has begun
        self.search_over = False
        """The time that is left belongs to the finals of studies that ended."""
        self._first: deque[Job] = deque()  # unfinished trials and lost jobs
        self._finals: deque[Job] = deque()
        self._lost: Counter[tuple[int, int, int]] = Counter()  # by study, trial, final
        self._by_graph = [
            [study for study in self.studies if study.plan.columns.graph == graph]
            for graph in plan.graphs
        ]

    def restore(
        self,
        trials: Iterable[TrialRow],
        repeats: Iterable[RepeatScore],
        finals: Iterable[FinalRow],
    ) -> None:
        """Rebuild every study from stored rows, repeats in the order of their arrival."""
        stored: dict[StudyKey, tuple[list[TrialRow], list[RepeatScore]]] = {}
        for row in trials:
            stored.setdefault(row.study, ([], []))[0].append(row)
        for repeat in repeats:
            stored[repeat.study][1].append(repeat)
        places = {study.plan.columns.study: study for study in self.studies}
        for final in finals:
            study = places[final.study]
            study.record_final(final.trial, final.repeat, final.seconds)
        for key, (rows, done) in stored.items():
            study = places[key]
            study.restore(rows, done)
            now = [study.trial_row(row.trial) for row in rows]
            changed = [new for new, row in zip(now, rows, strict=True) if _told(new) != _told(row)]
            if changed:
                self._write(changed)
            for number in sorted(study.running):
                self._first.append(self._search_job(study, study.trials[number]))
            self._settle(study)

    @property
    def graphs_at_work(self) -> list[str]:
        """The graph of every job that is out."""
        return [job.spec.graph for job, _ in self.live.values()]

    def next_job(self, ticket: str) -> Job | None:
        """The next thing to do, or ``None``: with no job out, there is none left."""
        while not self.limits.over:
            job = self._queued()
            if job is None:
                study = self._next_study()
                if study is None:
                    break
                job = self._ask(study)
            if job is not None:
                avoid = self.hosts.avoided(job.spec.graph, job.task)
                job = job if job.avoid == avoid else replace(job, avoid=avoid)
                self.live[ticket] = (job, self.limits.now())
                self._waiting.add(ticket)
                return job
        return None

    def started(self, ticket: str) -> None:
        """A job that waited for its worker begins only now."""
        self._waiting.discard(ticket)
        if ticket in self.live:
            self.live[ticket] = (self.live[ticket][0], self.limits.now())

    def overdue(self, grace: float) -> set[str]:
        """Jobs whose worker should have given up by itself so many seconds ago."""
        begun = {t: told for t, told in self.live.items() if t not in self._waiting}
        now = self.limits.now()
        return {t for t, (job, since) in begun.items() if now - since > job.timeout + grace}

    def recall(self) -> bool:
        """Take back jobs that wait for a worker, once nothing new may start.

        Returns:
            Whether nothing is left to wait for.
        """
        if not self.limits.over:
            return False
        for ticket in self._waiting:
            self.live.pop(ticket, None)
        self._waiting.clear()
        return not self.live

    def free_stranded(self) -> None:
        """Hand out anew what waits for hosts that are gone, while one that it avoids is there."""
        for ticket in list(self._waiting):
            job, _ = self.live[ticket]
            if job.avoid and self.hosts.strand(job.spec.graph, job.avoid):
                self._waiting.remove(ticket)
                del self.live[ticket]
                self._first.append(job)

    def receive(self, ticket: str, outcome: Outcome, host: str = "") -> bool:
        """Take in what a worker sent back from its host; whether its job goes on."""
        if isinstance(outcome, TrainingResult):
            self.hosts.finish(host)
        if ticket not in self.live:  # it was taken back just when it began
            return False
        self._waiting.discard(ticket)
        job, _ = self.live[ticket]
        study = self.studies[job.study]
        if isinstance(outcome, TrainingResult) and outcome.device == "cpu" and self.limits.gpus:
            self.limits.remark(WITHOUT_GPU)
        if isinstance(outcome, Failure):
            self._fail(study, job, outcome)
        elif job.purpose == "final":
            self._confirm(study, job, outcome)
        elif self._goes_on(study, job, outcome):
            return True
        del self.live[ticket]
        self._settle(study)
        return False

    def lose(self, ticket: str, cause: str, host: str = "") -> None:
        """A job whose worker was lost, on a host if that is known.

        It is handed out again, unless that happens too often.
        """
        if ticket not in self.live:  # it was lost after its last result
            return
        job, since = self.live.pop(ticket)
        begun = ticket not in self._waiting
        self._waiting.discard(ticket)
        study = self.studies[job.study]
        number = job.first if job.purpose == "final" else study.trials[job.trial].repeats
        if begun and self.limits.now() - since > job.timeout:
            self._fail(study, job, out_of_time(number))
        else:
            if host:
                self.hosts.lose(host, job.task, since, self.limits.now(), cause)
            self._retry(study, job, number, cause)
        self._settle(study)

    @property
    def state(self) -> str:
        """Final state of the run; valid once no job is in flight."""
        if all(study.confirmed for study in self.studies):
            return "finished"
        if self.limits.draining:
            return "interrupted"
        return "paused" if any(study.has_more for study in self.studies) else "incomplete"

    def _retry(self, study: StudyState, job: Job, number: int, cause: str) -> None:
        trial, final = study.trials[job.trial], job.purpose == "final"
        trial.retries += 1
        trial.notes.append(f"{job.purpose} {number}: worker lost ({cause})")
        self._lost[job.study, job.trial, number] += 1
        losses = self._lost[job.study, job.trial, number] if final else trial.retries
        if losses > MAX_RETRIES:
            text = f"worker lost {losses} times, last: {cause}"
            self._fail(study, job, Failure(index=number, kind="lost", text=text))
        else:
            self._first.append(job if final else self._search_job(study, trial))
            self._write([study.trial_row(job.trial)])

    def _goes_on(self, study: StudyState, job: Job, done: TrainingResult) -> bool:
        rows: list[TrialRow | RepeatRow | FinalRow] = []
        # A worker that was started anew behind our back begins with the first repeat of its job:
        # what is stored is not taken in twice.
        if done.index == study.trials[job.trial].repeats:
            record = done.record
            study.record(job.trial, record.val_score, record.val_loss, record.seconds)
            rows.append(study.training_row(job.trial, done))
        stops = job.trial not in study.running or self.limits.draining or self._search_must_end()
        if stops:  # the trial's own row is renewed when nothing more of it follows
            rows.append(study.trial_row(job.trial))
        self._write(rows)
        return not stops

    def _confirm(self, study: StudyState, job: Job, done: TrainingResult) -> None:
        self._write([study.training_row(job.trial, done)])
        study.record_final(job.trial, done.index, done.record.seconds)

    def _fail(self, study: StudyState, job: Job, failure: Failure) -> None:
        trial = study.trials[job.trial]
        if job.purpose == "final":
            study.failed_finals.add((job.trial, job.first))
            trial.notes.append(f"final {job.first}: {failure.kind}: {failure.text}")
        else:
            study.fail(job.trial, failure)
        self._write([study.trial_row(job.trial)])

    def _ask(self, study: StudyState) -> Job | None:
        trial = study.ask()
        if trial is None:  # the space is used up, which its last trial tells
            self._write([study.trial_row(len(study.trials) - 1)])
            self._settle(study)
            return None
        self._write([study.trial_row(trial.trial)])
        if trial.state == "running":
            return self._search_job(study, trial)
        self._settle(study)
        return None

    def _queued(self) -> Job | None:
        if self._search_must_end():
            self._first = deque(job for job in self._first if job.purpose == "final")
        if self._first:
            return self._first.popleft()
        return self._finals.popleft() if self._finals else None

    def _next_study(self) -> StudyState | None:
        """Graph by graph; within one, the study that has asked least."""
        if self._search_must_end():
            return None
        for studies in self._by_graph:
            may_ask = (study for study in studies if study.may_ask)
            least = min(may_ask, key=lambda study: len(study.trials), default=None)
            if least is not None:
                return least
        return None

    def _settle(self, study: StudyState) -> None:
        """Once a study has ended, its winner is confirmed."""
        if study.settled or not study.ended:
            return
        study.settle()
        best = study.winner
        for number in study.missing_finals():
            assert best is not None
            trial = study.trials[best.trial]
            self._finals.append(self._job(study, trial, "final", number, number + 1))

    def _search_must_end(self) -> bool:
        """Whether the time left is needed for the finals of studies that ended."""
        if self.limits.deadline is not None and not self.search_over:
            waiting = [*self._finals, *(job for job, _ in self.live.values())]
            finals = [self._seconds(job) for job in waiting if job.purpose == "final"]
            # Whatever is under way, or would start now, ends within one training.
            others = [self._seconds(job) for job in waiting if job.purpose == "repeat"]
            needed = sum(finals) / self.limits.workers + max([self._seconds(), *others])
            self.search_over = self.limits.left <= needed * CAUTION
        return self.search_over

    def _seconds(self, job: Job | None = None) -> float:
        """How long one training takes, judged by those of the job's study, or by all."""
        own = [self.studies[job.study]] if job else []
        measured = [c for c in own if c.trainings] or [c for c in self.studies if c.trainings]
        count = sum(study.trainings for study in measured)
        return sum(study.seconds for study in measured) / count if count else 0.0

    def _search_job(self, study: StudyState, trial: Trial) -> Job:
        return self._job(study, trial, "repeat", trial.repeats, study.plan.rules.repeats)

    def _job(self, study: StudyState, trial: Trial, purpose: str, first: int, last: int) -> Job:
        plan, limit = study.plan, self.plan.options.trial_timeout
        graph_hash = self._graph_hashes[plan.columns.graph]
        return Job(
            study=study.place,
            trial=trial.trial,
            purpose=purpose,
            first=first,
            specs=tuple(
                plan.spec(trial.params, purpose, index, graph_hash) for index in range(first, last)
            ),
            variant=plan.variant,
            seed=plan.seed,
            timeout=limit if purpose == "final" else max(limit - trial.seconds, 0.0),
        )


def _told(row: TrialRow) -> tuple[str, bool]:
    """What rebuilding may change of a trial's row."""
    return row.state, row.used_up
