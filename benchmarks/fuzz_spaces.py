"""Mutated and hostile space files: whatever they hold, each is read or refused in seconds.

Most files go the way of `clar-tune spaces check` and of `run --dry-run` until they are planned,
some that of a stored text which readers of results look into. Only a `ClarTuneError` of one short
line may come out of it. Prints what came of them, and the text of each that failed.

    python -m benchmarks.fuzz_spaces
    python -m benchmarks.fuzz_spaces --count 500 --seed 3
    python -m benchmarks.fuzz_spaces --only 17
"""

import faulthandler
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import click

from benchmarks.space_mutations import mutated
from clar_tune.analysis.same_ranges import content_of
from clar_tune.errors import LONGEST_REFUSAL, ClarTuneError
from clar_tune.space import Options, load_space, make_plan, stored_levels

SECONDS = 10.0
"""Longest time of one file, of a processor: others may keep it busy."""

HANG = 60
"""Seconds after which the process ends itself, should a file keep it where no signal is heard."""

MEMORY = 4 * 2**30
"""Bytes that all files together may take beyond what is loaded at first."""

OPTIONS = (
    *[Options()] * 8,
    Options(settings="paper"),
    Options(trials=10**11),
    Options(repeats=10**6, finals=10**6),
    Options(replicates=10**6),
    Options(replicates=20),
    Options(seed=2**80),
    Options(sampler="grid"),
    Options(sampler="gp", pruning=False),
    Options(methods=("gat+clar", "cheby")),
    Options(graphs=("texas",), protocol="random"),
    Options(conditions=("layers=2",)),
    Options(outer_test=float("nan")),
    Options(trial_timeout=float("inf")),
)


class TookTooLong(BaseException):
    """Not an ``Exception``, which code under test may catch."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise once the process has worked for so long: time of processors, however busy they are."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Findings:
    """What came of some files."""

    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """How often by kind: the message without place, names and numbers."""
    failures: dict[int, str] = field(default_factory=dict)
    """By number of the case, what went wrong and its text."""
    slowest: tuple[float, int] = (0.0, -1)
    """Seconds of a processor, and the case."""


def plan(file: Path, options: Options) -> None:
    """What `spaces check` and `run --dry-run` do with a file."""
    space = load_space(str(file))
    for settings in space.settings:
        space.most_trainings(settings)
    make_plan(space, options)


def look_into(file: Path, options: Options) -> None:
    """What `compare` and `report` do with the text of a manifest."""
    text = file.read_text(encoding="utf-8", errors="replace")
    content_of(text, options.settings)
    stored_levels(text, options.settings, "manifest")


Use = Callable[[Path, Options], None]

USES: tuple[Use, ...] = (plan, plan, plan, look_into)


def fuzz(
    numbers: range,
    seed: int,
    folder: Path,
    uses: tuple[Use, ...] = USES,
    report: Callable[[int], None] = lambda number: None,
) -> Findings:
    """Feed the file of each case to one of ``uses``, within its time."""
    found, file = Findings(), folder / "fuzzed.yaml"
    for number in numbers:
        report(number)
        content = mutated(seed, number)
        file.write_bytes(content)
        draw = random.Random(f"use {seed}/{number}")
        use, options = draw.choice(uses), draw.choice(OPTIONS)
        began = time.process_time()
        try:
            with limited(SECONDS):
                use(file, options)
            found.accepted += 1
        except ClarTuneError as error:
            found.refused[kind(str(error))] += 1
            if problem := wrong_message(error):
                found.failures[number] = _failure(problem, content)
        except (Exception, TookTooLong):
            found.failures[number] = _failure(traceback.format_exc(limit=-6), content)
        found.slowest = max(found.slowest, (time.process_time() - began, number))
    return found


def wrong_message(error: ClarTuneError) -> str:
    """What is wrong with the message of an error; empty if it is one short line."""
    text = str(error)
    if len(text) > 2 * LONGEST_REFUSAL:
        return f"a message of {len(text)} characters: {text[:200]}"
    return "" if text.isprintable() else f"not one line: {text!r}"


def kind(message: str) -> str:
    """A message without what differs from file to file."""
    without_place = re.sub(r"^(\S*\.yaml|manifest)(:\d+)?: ([^ :]*: )?", "", message)
    sentence = without_place.split(". ")[0]
    return re.sub(r"'.*'|\"[^\"]*\"|`[^`]*`|[-\w.+=@]*\d[-\w.,+]*", "_", sentence)[:60]


def _failure(problem: str, content: bytes) -> str:
    return f"{problem}\n{content.decode(errors='backslashreplace')}"


def _limit_memory() -> None:
    """A file that takes all memory shall end in an error, not stop the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


@click.command()
@click.option("--count", default=10_000, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=0, show_default=True)
@click.option("--only", type=click.IntRange(0), help="One case, by its number.")
def main(count: int, seed: int, only: int | None) -> None:
    """Feed mutated files to the reader of spaces."""
    numbers = range(count) if only is None else range(only, only + 1)
    began = time.process_time()
    _limit_memory()

    def report(number: int) -> None:
        faulthandler.dump_traceback_later(HANG, exit=True)
        if number % 1000 == 0 and number:
            print(f"{number} …", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        print(f"a hang leaves its file in {folder}", file=sys.stderr)
        found = fuzz(numbers, seed, Path(folder), report=report)
    faulthandler.cancel_dump_traceback_later()
    for number, failure in found.failures.items():
        print(f"seed {seed}, case {number}: {failure}\n")
    seconds, slowest = found.slowest
    print(f"files               {len(numbers)}, seed {seed}")
    print(f"accepted            {found.accepted}")
    print(f"refused             {found.refused.total()}, for {len(found.refused)} reasons")
    for reason, times in found.refused.most_common(12):
        print(f"  {times:>6} {reason}")
    print(f"failed              {len(found.failures)}")
    print(f"slowest             {seconds:.2f} s, case {slowest}")
    print(f"all                 {time.process_time() - began:.0f} s of a processor")
    sys.exit(bool(found.failures))


if __name__ == "__main__":
    main()
