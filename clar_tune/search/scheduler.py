"""Conducts a run: hands out jobs, judges what comes back, and writes it down first.

Knows neither Ray nor files: results come in through :meth:`Conductor.receive`, rows go out
through ``write``, and all of its state can be rebuilt from the rows written before.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from clar_tune.rows import FinalRow, RepeatRow, RepeatScore, StudyKey, TrialRow
from clar_tune.search.jobs import Failure, Job, Outcome, Trained, out_of_time
from clar_tune.search.limits import Pace
from clar_tune.search.study import Course, MakeJudge
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


class Conductor:
    """The state of a run between its first job and its last."""

    def __init__(
        self,
        plan: Plan,
        graph_hashes: Mapping[str, str],
        write: Write,
        make_judge: MakeJudge,
        pace: Pace | None = None,
    ) -> None:
        self.plan, self.pace, self._write = plan, pace or Pace(), write
        self._graph_hashes = graph_hashes
        self.courses = [
            Course(place, study, make_judge) for place, study in enumerate(plan.studies)
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
            [course for course in self.courses if course.plan.columns.graph == graph]
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
        places = {course.plan.columns.study: course for course in self.courses}
        for final in finals:
            course = places[final.study]
            course.record_final(final.trial, final.repeat, final.seconds)
        for study, (rows, done) in stored.items():
            course = places[study]
            course.restore(rows, done)
            now = [course.trial_row(row.trial) for row in rows]
            changed = [new for new, row in zip(now, rows, strict=True) if _told(new) != _told(row)]
            if changed:
                self._write(changed)
            for number in sorted(course.running):
                self._first.append(self._search_job(course, course.trials[number]))
            self._settle(course)

    @property
    def graphs_at_work(self) -> list[str]:
        """The graph of every job that is out."""
        return [job.spec.graph for job, _ in self.live.values()]

    def next_job(self, ticket: str) -> Job | None:
        """The next thing to do, or ``None``: with no job out, there is none left."""
        while not self.pace.over:
            job = self._queued()
            if job is None:
                course = self._next_course()
                if course is None:
                    break
                job = self._ask(course)
            if job is not None:
                self.live[ticket] = (job, self.pace.now())
                self._waiting.add(ticket)
                return job
        return None

    def started(self, ticket: str) -> None:
        """A job that waited for its worker begins only now."""
        self._waiting.discard(ticket)
        if ticket in self.live:
            self.live[ticket] = (self.live[ticket][0], self.pace.now())

    def overdue(self, grace: float) -> set[str]:
        """Jobs whose worker should have given up by itself so many seconds ago."""
        begun = {t: told for t, told in self.live.items() if t not in self._waiting}
        now = self.pace.now()
        return {t for t, (job, since) in begun.items() if now - since > job.timeout + grace}

    def recall(self) -> bool:
        """Take back jobs that wait for a worker, once nothing new may start.

        Returns:
            Whether nothing is left to wait for.
        """
        if not self.pace.over:
            return False
        for ticket in self._waiting:
            self.live.pop(ticket, None)
        self._waiting.clear()
        return not self.live

    def receive(self, ticket: str, outcome: Outcome) -> bool:
        """Take in what a worker sent back; whether its job goes on."""
        if ticket not in self.live:  # it was taken back just when it began
            return False
        self._waiting.discard(ticket)
        job, _ = self.live[ticket]
        course = self.courses[job.study]
        if isinstance(outcome, Trained) and outcome.device == "cpu" and self.pace.gpus:
            self.pace.remark(WITHOUT_GPU)
        if isinstance(outcome, Failure):
            self._fail(course, job, outcome)
        elif job.purpose == "final":
            self._confirm(course, job, outcome)
        elif self._goes_on(course, job, outcome):
            return True
        del self.live[ticket]
        self._settle(course)
        return False

    def lose(self, ticket: str, cause: str) -> None:
        """A job whose worker was lost: handed out again, unless that happens too often."""
        if ticket not in self.live:  # it was lost after its last result
            return
        job, since = self.live.pop(ticket)
        begun = ticket not in self._waiting
        self._waiting.discard(ticket)
        course = self.courses[job.study]
        number = job.first if job.purpose == "final" else course.trials[job.trial].repeats
        if begun and self.pace.now() - since > job.timeout:
            self._fail(course, job, out_of_time(number))
        else:
            self._retry(course, job, number, cause)
        self._settle(course)

    @property
    def state(self) -> str:
        """What became of the run, once no job is out."""
        if all(course.confirmed for course in self.courses):
            return "finished"
        if self.pace.draining:
            return "interrupted"
        return "paused" if any(course.has_more for course in self.courses) else "incomplete"

    def _retry(self, course: Course, job: Job, number: int, cause: str) -> None:
        trial, final = course.trials[job.trial], job.purpose == "final"
        trial.retries += 1
        trial.notes.append(f"{job.purpose} {number}: worker lost ({cause})")
        self._lost[job.study, job.trial, number] += 1
        losses = self._lost[job.study, job.trial, number] if final else trial.retries
        if losses > MAX_RETRIES:
            text = f"worker lost {losses} times, last: {cause}"
            self._fail(course, job, Failure(index=number, kind="lost", text=text))
        else:
            self._first.append(job if final else self._search_job(course, trial))
            self._write([course.trial_row(job.trial)])

    def _goes_on(self, course: Course, job: Job, done: Trained) -> bool:
        rows: list[TrialRow | RepeatRow | FinalRow] = []
        # A worker that was started anew behind our back begins with the first repeat of its job:
        # what is stored is not taken in twice.
        if done.index == course.trials[job.trial].repeats:
            record = done.record
            course.record(job.trial, record.val_score, record.val_loss, record.seconds)
            rows.append(course.training_row(job.trial, done))
        stops = job.trial not in course.running or self.pace.draining or self._search_must_end()
        if stops:  # the trial's own row is renewed when nothing more of it follows
            rows.append(course.trial_row(job.trial))
        self._write(rows)
        return not stops

    def _confirm(self, course: Course, job: Job, done: Trained) -> None:
        self._write([course.training_row(job.trial, done)])
        course.record_final(job.trial, done.index, done.record.seconds)

    def _fail(self, course: Course, job: Job, failure: Failure) -> None:
        trial = course.trials[job.trial]
        if job.purpose == "final":
            course.failed_finals.add((job.trial, job.first))
            trial.notes.append(f"final {job.first}: {failure.kind}: {failure.text}")
        else:
            course.fail(job.trial, failure)
        self._write([course.trial_row(job.trial)])

    def _ask(self, course: Course) -> Job | None:
        trial = course.ask()
        if trial is None:  # the space is used up, which its last trial tells
            self._write([course.trial_row(len(course.trials) - 1)])
            self._settle(course)
            return None
        self._write([course.trial_row(trial.trial)])
        if trial.state == "running":
            return self._search_job(course, trial)
        self._settle(course)
        return None

    def _queued(self) -> Job | None:
        if self._search_must_end():
            self._first = deque(job for job in self._first if job.purpose == "final")
        if self._first:
            return self._first.popleft()
        return self._finals.popleft() if self._finals else None

    def _next_course(self) -> Course | None:
        """Graph by graph; within one, the study that has asked least."""
        if self._search_must_end():
            return None
        for courses in self._by_graph:
            may_ask = (course for course in courses if course.may_ask)
            least = min(may_ask, key=lambda course: len(course.trials), default=None)
            if least is not None:
                return least
        return None

    def _settle(self, course: Course) -> None:
        """Once a study has ended, its winner is confirmed."""
        if course.settled or not course.ended:
            return
        course.settle()
        best = course.winner
        for number in course.missing_finals():
            assert best is not None
            trial = course.trials[best.trial]
            self._finals.append(self._job(course, trial, "final", number, number + 1))

    def _search_must_end(self) -> bool:
        """Whether the time left is needed for the finals of studies that ended."""
        if self.pace.deadline is not None and not self.search_over:
            waiting = [*self._finals, *(job for job, _ in self.live.values())]
            finals = [self._seconds(job) for job in waiting if job.purpose == "final"]
            # Whatever is under way, or would start now, ends within one training.
            others = [self._seconds(job) for job in waiting if job.purpose == "repeat"]
            needed = sum(finals) / self.pace.workers + max([self._seconds(), *others])
            self.search_over = self.pace.left <= needed * CAUTION
        return self.search_over

    def _seconds(self, job: Job | None = None) -> float:
        """How long one training takes, judged by those of the job's study, or by all."""
        own = [self.courses[job.study]] if job else []
        measured = [c for c in own if c.trainings] or [c for c in self.courses if c.trainings]
        count = sum(course.trainings for course in measured)
        return sum(course.seconds for course in measured) / count if count else 0.0

    def _search_job(self, course: Course, trial: Trial) -> Job:
        return self._job(course, trial, "repeat", trial.repeats, course.plan.rules.repeats)

    def _job(self, course: Course, trial: Trial, purpose: str, first: int, last: int) -> Job:
        plan, limit = course.plan, self.plan.options.trial_timeout
        graph_hash = self._graph_hashes[plan.columns.graph]
        return Job(
            study=course.place,
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
