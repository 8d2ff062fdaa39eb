"""What goes wrong in code that is not ours, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from clar_tune.errors import TrainingError


@contextmanager
def one_line() -> Iterator[None]:
    """Trainings in a command's own process: a user's model may raise anything."""
    from clar_tune.search import one_line_error

    try:
        yield
    except Exception as error:
        raise TrainingError(" ".join(one_line_error(error).split())) from error
