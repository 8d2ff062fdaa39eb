"""Schedules a run: hands out jobs, judges what comes back, and writes it down first.

Knows neither Ray nor files: results come in through :meth:`Scheduler.receive`, rows go out
through ``write``, and all of its state can be rebuilt from the rows written before.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from clar_tune.rows import FinalRow, RepeatRow, RepeatScore, TrialRow
from clar_tune.search.assignment import BATCH, Assignment, Done
from clar_tune.search.confirmation import Confirmation, Final
from clar_tune.search.groups import Groups
from clar_tune.search.hosts import Hosts, Task
from clar_tune.search.job_maker import JobMaker
from clar_tune.search.jobs import Failure, Job, Outcome, TrainingResult, out_of_time
from clar_tune.search.limits import Limits
from clar_tune.search.out import Out
from clar_tune.search.pace import Pace, beside
from clar_tune.search.queues import Queues
from clar_tune.search.stored_studies import take_in
from clar_tune.search.study import MakeJudge, StudyState
from clar_tune.space import Plan

MAX_RETRIES = 3
"""How often a job is handed out again after its worker was lost."""

Rows = list[TrialRow | RepeatRow | FinalRow]

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
        self._jobs = JobMaker(graph_hashes, plan.options.trial_timeout)
        self.studies = [
            StudyState(place, planned, make_judge) for place, planned in enumerate(plan.studies)
        ]
        self.live: dict[str, Out] = {}
        """Assignments that are out, in the order in which they went."""
        self.search_over = False
        """The time that is left belongs to the finals of studies that ended."""
        self._pace = Pace(self.studies)
        self._queues = Queues(self.studies, plan.graphs)
        self._groups = Groups(self.studies)
        self._confirmation = Confirmation(self.studies)
        self._lost: Counter[Task] = Counter()  # of finals

    def restore(
        self,
        trials: Iterable[TrialRow],
        repeats: Iterable[RepeatScore],
        finals: Iterable[FinalRow],
    ) -> None:
        """Rebuild every study from stored rows, repeats in the order of their arrival."""
        begun = take_in(self.studies, trials, repeats, finals)
        for study in begun:
            self._pace.add(study.plan.columns.graph, study.trainings, study.seconds)
            changed = study.restored()
            if changed:
                self._write([study.trial_row(number) for number in changed])
            going_on = [study.trials[number] for number in sorted(study.running)]
            self._queues.first.extend(self._jobs.repeats(study, trial) for trial in going_on)
        for study in self._groups:
            self._groups.ready_with(study)
        for study in begun:
            self._settle(study)
        self._queues.renew()

    @property
    def graphs_at_work(self) -> list[str]:
        """The graph of every assignment that is out."""
        return [out.graph for out in self.live.values()]

    def assign(self, ticket: str) -> Assignment | None:
        """The next things to do, or ``None``: with nothing out, there are none left."""
        while not self.limits.over and not self._device_wanted:
            if self._search_must_end():
                self._queues.keep_finals()
            jobs = self._queues.waiting(self.limits.workers, self._pace.of_job)
            if not jobs:
                studies = self._queues.asking(self.limits.workers, self._pace.of_next_trial)
                if not studies:
                    return None
                jobs = self._ask(studies)
            if jobs:
                return self._hand_out(ticket, jobs)
        return None

    def started(self, ticket: str) -> None:
        """An assignment that waited for its worker begins only now."""
        if ticket in self.live:
            out = self.live[ticket]
            out.begun, out.since, out.heard = True, self.limits.now(), self.limits.now()

    def overdue(self, grace: float) -> set[str]:
        """Assignments whose worker should have given up by itself so many seconds ago."""
        now = self.limits.now()
        return {
            ticket
            for ticket, out in self.live.items()
            if out.begun
            and now - out.heard > max(job.timeout for job in out.jobs.values()) + BATCH + grace
        }

    def recall(self) -> bool:
        """Take back assignments that wait for a worker, once nothing new may start.

        Returns:
            Whether nothing is left to wait for.
        """
        if not self.limits.over:
            return False
        self.live = {ticket: out for ticket, out in self.live.items() if out.begun}
        return not self.live

    def free_stranded(self) -> None:
        """Hand out anew what waits for hosts that are gone, while one that it avoids is there."""
        for ticket, out in list(self.live.items()):
            avoid = out.first.avoid
            if not out.begun and avoid and self.hosts.strand(out.graph, avoid):
                del self.live[ticket]
                self._queues.first.extend(out.jobs.values())

    def receive(self, ticket: str, batch: Sequence[Done], host: str = "") -> bool:
        """Take in what a worker sent back from its host; whether it goes on.

        All of it is written in one go, before anything follows from it.
        """
        results = [done for _, done in batch if isinstance(done, TrainingResult)]
        if results:
            self.hosts.finish(host)
        if ticket not in self.live:  # it was taken back just when it began
            return False
        out, rows = self.live[ticket], Rows()
        ended = self._take_in(out, batch, rows)
        if not out.jobs or self._is_to_stop(out):
            del self.live[ticket]
            # The row of a trial is renewed when nothing more of it follows here.
            rows += [
                self._row(job) for job in out.jobs.values() if self._pace.number(job) > job.first
            ]
        self._write(rows)
        self._queues.first.extendleft(reversed(self._going_on(ended)))
        for job in ended:
            self._settle(self.studies[job.study])
        return ticket in self.live

    def lose(self, ticket: str, cause: str, host: str = "") -> None:
        """An assignment whose worker was lost, on a host if that is known.

        Its jobs are handed out again, each alone, unless that happens too often.
        """
        if ticket not in self.live:  # it was lost after its last result
            return
        out, now, rows = self.live.pop(ticket), self.limits.now(), Rows()
        again = []
        for job in out.jobs.values():
            number = self._pace.number(job)
            # Of several jobs nobody knows at which one the worker was.
            if out.begun and len(out.jobs) == 1 and now - out.since > job.timeout:
                self._fail(job, out_of_time(number))
            else:
                if host:
                    self.hosts.lose(host, job.task, out.since, now, cause)
                again += self._retried(job, number, cause)
            rows.append(self._row(job))
        self._write(rows)
        self._queues.first.extend(again)
        for job in out.jobs.values():
            self._settle(self.studies[job.study])

    @property
    def state(self) -> str:
        """Final state of the run; valid once no job is in flight."""
        if all(study.confirmed for study in self.studies):
            return "finished"
        if self.limits.draining:
            return "interrupted"
        return "paused" if any(study.has_more for study in self.studies) else "incomplete"

    def _take_in(self, out: Out, batch: Sequence[Done], rows: Rows) -> list[Job]:
        """Judge what came back, and add its rows; returns the jobs that are done."""
        ended, now, first = [], self.limits.now(), out.first
        out.heard = now
        for place, done in batch:
            job = out.jobs.get(place)
            # A worker that was started anew behind our back begins with the first repeat of its
            # first job: what is stored is not taken in twice.
            if job is not None and self._is_done(job, done, rows):
                ended.append(out.jobs.pop(place))
        if out.jobs and out.first is not first:
            own = [done for place, done in batch if place in out.jobs]
            seconds = sum(o.record.seconds for o in own if isinstance(o, TrainingResult))
            out.since = now - seconds / beside(self.studies[out.first.study])
        return ended

    def _is_done(self, job: Job, done: Outcome, rows: Rows) -> bool:
        """Take in one training; whether it is the last of its job."""
        study = self.studies[job.study]
        if isinstance(done, Failure):
            if self._deserves_device(job, done):
                self._jobs.alone.add((job.study, job.trial))
                text = f"{job.told(done.index)}: tried again alone on a GPU ({done.text})"
                study.trials[job.trial].notes.append(text)
            else:
                self._fail(job, done)
            rows.append(self._row(job))
            return True
        record = done.record
        self._pace.add(job.spec.graph, 1, record.seconds)
        if job.purpose == "final":
            assert done.test_score is not None
            study.record_final(
                job.arm, job.spec.params, done.index, record.seconds, done.test_score
            )
            rows.append(study.training_row(job.trial, done))
            return True
        if done.index == study.trials[job.trial].repeats:
            study.record(job.trial, record.val_score, record.val_loss, record.seconds)
            rows.append(study.training_row(job.trial, done))
        trial = study.trials[job.trial]
        if trial.state == "running" and trial.repeats < job.last:
            return False
        rows.append(self._row(job))  # at a rung it tells what was decided
        return True

    def _is_to_stop(self, out: Out) -> bool:
        """Whether what is left of an assignment is not to be done now."""
        return self.limits.over or (not out.confirms and self._search_must_end())

    def _going_on(self, ended: Sequence[Job]) -> list[Job]:
        """Jobs that follow those that ended: trials that were not stopped at their rung.

        Also finals that are to be done again.
        """
        following = []
        for job in ended:
            study = self.studies[job.study]
            trial = study.trials[job.trial]
            if job.purpose == "repeat" and job.trial in study.running:
                following.append(self._jobs.repeats(study, trial))
            elif job.purpose == "final" and study.finals.lacks(job.arm, job.first):
                following.append(self._jobs.final(study, job.arm, job.first))
        return following

    def _retried(self, job: Job, number: int, cause: str) -> list[Job]:
        """A job whose worker was lost, to be done again; none if that happened too often."""
        study = self.studies[job.study]
        trial, final = study.trials[job.trial], job.purpose == "final"
        trial.retries += 1
        trial.notes.append(f"{job.told(number)}: worker lost ({cause})")
        self._lost[job.task] += final
        losses = self._lost[job.task] if final else trial.retries
        if losses <= MAX_RETRIES:
            return [job if final else self._jobs.repeats(study, trial)]
        text = f"worker lost {losses} times, last: {cause}"
        self._fail(job, Failure(index=number, kind="lost", text=text))
        return []

    def _deserves_device(self, job: Job, failure: Failure) -> bool:
        """Whether a share of a GPU may be to blame, and not the configuration."""
        on_share = job.spec.device != "cpu" and 0 < self.limits.gpus < 1
        return failure.kind == "memory" and on_share and not job.alone

    @property
    def _device_wanted(self) -> bool:
        """Whether a job waits for a whole GPU, which others must leave for that."""
        return any(out.first.alone and not out.begun for out in self.live.values())

    def _fail(self, job: Job, failure: Failure) -> None:
        study = self.studies[job.study]
        if job.purpose == "final":
            study.finals.failed.add((job.arm, job.first))
            note = f"{job.told(job.first)}: {failure.kind}: {failure.text}"
            study.trials[job.trial].notes.append(note)
        else:
            study.fail(job.trial, failure)

    def _ask(self, studies: Sequence[StudyState]) -> list[Job]:
        """A trial of each study, written before anything is trained."""
        asked = [(study, study.ask()) for study in studies]
        # A space that is used up is told of by its last trial.
        self._write([study.trial_row((trial or study.last).trial) for study, trial in asked])
        for study in studies:
            self._settle(study)
        self._queues.put_back(studies)
        return [
            self._jobs.repeats(study, trial)
            for study, trial in asked
            if trial is not None and trial.state == "running"
        ]

    def _hand_out(self, ticket: str, jobs: Sequence[Job]) -> Assignment:
        avoided = [self.hosts.avoided(job.spec.graph, job.task) for job in jobs]
        given = Assignment(
            tuple(
                job if job.avoid == avoid else replace(job, avoid=avoid)
                for job, avoid in zip(jobs, avoided, strict=True)
            )
        )
        now = self.limits.now()
        self.live[ticket] = Out(dict(enumerate(given.jobs)), since=now, heard=now)
        return given

    def _settle(self, study: StudyState) -> None:
        """Once a study has ended, its winner is confirmed; others may have waited for it."""
        self._queues.put_back(self._groups.ready_with(study))
        if study.ended and not study.settled:
            study.settle()
            self._confirm(self._confirmation.finals_after(study))
        self._confirm(self._confirmation.more_after(study))

    def _confirm(self, finals: Iterable[Final]) -> None:
        for study, arm, number in finals:
            self._queues.add_final(self._jobs.final(study, arm, number))

    def _search_must_end(self) -> bool:
        """Whether the time left is needed for the finals of studies that ended."""
        if self.limits.deadline is not None and not self.search_over:
            finals = self._queues.finals
            needed = self._pace.seconds_needed(self.live.values(), finals, self.limits.workers)
            self.search_over = self.limits.left <= needed * CAUTION
        return self.search_over

    def _row(self, job: Job) -> TrialRow:
        return self.studies[job.study].trial_row(job.trial)
