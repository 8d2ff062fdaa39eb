"""Runs that a cluster drives by itself, as jobs of Ray: submitted, looked at, stopped."""

import asyncio
import os
import shlex
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError
from ray.exceptions import AuthenticationError
from ray.job_submission import JobDetails, JobSubmissionClient

from clar_tune.cluster.packaging import silenced
from clar_tune.cluster.ray_internals import STOP_PATIENCE, is_invalid_token
from clar_tune.errors import ClusterError, UnknownName
from clar_tune.store import LATEST

RUN, COMMAND = "clar-tune-run", "clar-tune-command"
"""Metadata by which our jobs are known."""

ENDED = ("succeeded", "failed", "stopped")
INTERRUPTED = 130

_PATIENCE = 10.0  # seconds until a machine that says nothing is given up
_OVERRULING = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")
"""Variables that Ray prefers to the address it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command of clar-tune that a cluster was given."""

    id: str
    run: str
    command: str
    state: str
    """``pending``, ``running``, ``succeeded``, ``failed`` or ``stopped``."""
    started: datetime
    ended: datetime | None
    exit_code: int
    """What the command ended with; 0 as long as it has not."""
    message: str
    """Why it failed, in one line."""

    @property
    def seconds(self) -> float:
        """How long it has been there."""
        return ((self.ended or datetime.now(UTC)) - self.started).total_seconds()


class Jobs:
    """The jobs of one cluster."""

    def __init__(self, address: str) -> None:
        self.address = address
        _check_listener(address)
        with self._answers(), _unsaid(_OVERRULING):
            try:
                self._client = JobSubmissionClient(address)
            except (KeyError, ValueError, RuntimeError) as error:
                raise RuntimeError("what answers is no dashboard of Ray") from error

    def all(self) -> list[Job]:
        """Every job of clar-tune, the newest first."""
        with self._answers():
            found = [_job(details) for details in self._client.list_jobs() if _ours(details)]
        return sorted(found, key=lambda job: (job.started, job.id), reverse=True)

    def find(self, text: str) -> Job:
        """The newest job of the run with this name, of one that begins so, or the ``latest``."""
        jobs = self.all()
        if not jobs:
            raise ClusterError(f"no runs were submitted to {self.address}.")
        if text == LATEST:
            return jobs[0]
        matching = [job for job in jobs if job.run == text]
        matching = matching or [job for job in jobs if text and job.run.startswith(text)]
        names = sorted({job.run for job in matching})
        if not names:
            raise UnknownName("submitted run", text, {job.run for job in jobs})
        if len(names) > 1:
            raise ClusterError(f"run {text!r} is not unique: {', '.join(names)}. Write more.")
        return matching[0]

    def submit(self, run: str, words: Sequence[str], archive: Path, patience: float) -> Job:
        """Hand a command over.

        Args:
            run: Name of its run.
            words: The command as it is typed, without ``clar-tune``.
            archive: Packed working directory.
            patience: Seconds that it gets to finish its trainings when it is stopped.
        """
        before = [job for job in self.all() if job.run == run]
        if before and before[0].state not in ENDED:
            raise ClusterError(
                f"run {run} is at work at {self.address} (job {before[0].id}, "
                f"{before[0].state}). Wait for its end, or `clar-tune stop {run}`."
            )
        if words[0] == "run" and any(job.state != "failed" for job in before):
            raise ClusterError(
                f"{self.address} has had a run {run}. Choose another --name, or "
                f"`clar-tune submit resume {run}`."
            )
        # Ray takes an id once; a dot is in no name of a run.
        job = f"{run}.{len(before) + 1}" if before else run
        with self._answers():
            self._client.submit_job(
                entrypoint=shlex.join(["exec", "python", "-m", "clar_tune", *words]),
                submission_id=job,
                metadata={RUN: run, COMMAND: words[0]},
                # Read by the process that stops the job: it kills after 3 s unless told better.
                runtime_env={
                    "working_dir": str(archive),
                    "env_vars": {STOP_PATIENCE: str(round(patience))},
                },
            )
        return self.again(job)

    def again(self, job: str) -> Job:
        """A job as it is now."""
        with self._answers():
            return _job(self._client.get_job_info(job))

    def log(self, job: Job) -> str:
        """All that a job has printed."""
        with self._answers():
            return str(self._client.get_job_logs(job.id))

    def follow(self, job: Job, show: Callable[[str], None]) -> Job:
        """Show what a job prints until it ends."""

        async def tail() -> None:
            async for lines in self._client.tail_job_logs(job.id):
                show(lines)

        with self._answers():
            asyncio.run(tail())
        return self.again(job.id)

    def stop(self, job: Job) -> bool:
        """Ask a job to finish its trainings and end; false if it had ended before."""
        with self._answers():
            return bool(self._client.stop_job(job.id))

    @contextmanager
    def _answers(self) -> Iterator[None]:
        """Whatever goes wrong between here and the cluster is one line."""
        try:
            with silenced():
                yield
        except BrokenPipeError:  # nobody reads what is printed any more
            raise
        except AuthenticationError as error:
            raise ClusterError(_refusal(self.address, error)) from None
        except (OSError, RuntimeError, ValueError, ClientError) as error:
            raise ClusterError(f"{self.address}: {_last_line(str(error))}") from error


def _check_listener(address: str) -> None:
    """Is anyone there? Ray itself would wait without an end for a machine that is off."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        host = port = None
    if not host or not port:
        raise ClusterError(
            f"--address {address}: give the address of the dashboard, such as "
            "http://127.0.0.1:8265."
        )
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except OSError as error:
        raise ClusterError(
            f"--address {address}: nobody answers ({error.strerror or error}). A cluster's "
            "dashboard is reached through a tunnel: `ray dashboard cluster.yaml`, or "
            "`ssh -L 8265:localhost:8265 HEAD`."
        ) from error


@contextmanager
def _unsaid(names: Sequence[str]) -> Iterator[None]:
    """Without some variables of the environment."""
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def _refusal(address: str, error: AuthenticationError) -> str:
    where = "~/.ray/auth_token, the file that RAY_AUTH_TOKEN_PATH names, or RAY_AUTH_TOKEN"
    if is_invalid_token(error):
        return f"{address} refuses the token. Put the cluster's own into {where}."
    return f"{address} wants a token, and none was sent. Put the cluster's into {where}."


def _ours(details: JobDetails) -> bool:
    return bool(details.submission_id) and RUN in (details.metadata or {})


def _job(details: JobDetails) -> Job:
    known: dict[str, str] = details.metadata or {}
    state = str(details.status.value).lower()
    return Job(
        id=details.submission_id or "",
        run=known.get(RUN, ""),
        command=known.get(COMMAND, ""),
        state=state,
        started=_moment(details.start_time) or datetime.now(UTC),
        ended=_moment(details.end_time) if state in ENDED else None,
        exit_code=_exit_code(state, details.driver_exit_code),
        message=_cause(details.message or "") if state == "failed" else "",
    )


def _moment(milliseconds: Any) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _exit_code(state: str, code: int | None) -> int:
    if state == "stopped":
        return INTERRUPTED
    if state != "failed":
        return 0
    return code if code and 0 < code < 256 else 1


def _cause(message: str) -> str:
    """Our own last words where there are some: Ray puts the end of the log into its message."""
    ours = [line for line in message.splitlines() if line.startswith(("clar-tune: ", "Error: "))]
    return ours[-1].partition(": ")[2] if ours else _last_line(message)


def _last_line(text: str) -> str:
    """A traceback ends with what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].rstrip(".") + "." if lines else "no reason was given."
