"""An assignment that is out, as the driver knows of it."""

from dataclasses import dataclass

from clar_tune.search.jobs import Job


@dataclass(slots=True)
class Out:
    """An assignment that is out."""

    jobs: dict[int, Job]
    """Those that are not done, by their place in it."""
    since: float
    """When the first of them began."""
    heard: float
    """When the worker last said something."""
    begun: bool = False
    """Whether a worker has it."""

    @property
    def graph(self) -> str:
        """The graph of all jobs."""
        return self.first.spec.graph

    @property
    def first(self) -> Job:
        """The job that a worker is at, as far as is known."""
        return next(iter(self.jobs.values()))

    @property
    def confirms(self) -> bool:
        """Whether it confirms winners: all of its jobs are of one kind."""
        return self.first.purpose == "final"
