"""Plants each defect of defects.yaml and asks whether its tests still catch it.

A test that patches a name which nobody looks up any more passes for nothing. So the table
freezes defects together with the tests that fail with them: ``python tests/frozen/defects.py``.
"""

import os
import queue
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile, copymode
from tempfile import TemporaryDirectory

import click
import psutil
import yaml

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("defects.yaml")
COUNT = 40
"""Entries of the table: a defect that is dropped must be replaced."""
PATIENCE = 600.0
"""Seconds for the tests of one defect: more than tests wait for a command that does not end."""
OWN_PACKAGE = "import clar_tune; print(clar_tune.__file__)"

Outcomes = dict[tuple[str, str], str]
"""What became of every test, by module and name."""


@dataclass(frozen=True, slots=True)
class Defect:
    """A plausible mistake in one file, and tests that fail with it and pass without it."""

    name: str
    file: str
    old: str
    new: str
    caught_by: tuple[str, ...]

    def planted(self, text: str) -> str:
        """The content of its file with the mistake; an error if its place is not clear."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: its text stands {found} times in {self.file}")
        return text.replace(self.old, self.new)


Judged = tuple[Defect, float, list[str]]
"""A defect, the seconds that its tests took, and those that missed it."""


def read_table(path: Path = TABLE) -> list[Defect]:
    """All defects."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [Defect(**{**entry, "caught_by": tuple(entry["caught_by"])}) for entry in entries]


def check_table(defects: Sequence[Defect], root: Path = ROOT) -> None:
    """Fail unless all defects are there and each can be planted in one place."""
    if len(defects) != COUNT:
        raise ValueError(f"{TABLE.name} has {len(defects)} entries, {COUNT} are needed")
    for defect in defects:
        defect.planted((root / defect.file).read_text(encoding="utf-8"))


def outcomes(report: Path) -> Outcomes:
    """Read from a report of pytest."""
    found: Outcomes = {}
    for case in ET.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} & {"error", "failure", "skipped"}
        place = case.get("classname", ""), case.get("name", "")
        found[place] = " and ".join(sorted(kinds)) or "passed"
    return found


def outcome_of(test: str, found: Outcomes) -> str:
    """What became of one node id; of several cases of a test all must agree."""
    path, *inner = test.split("::")
    module = ".".join([path.removesuffix(".py").replace("/", "."), *inner[:-1]])
    states = {
        state
        for (owner, name), state in found.items()
        if owner == module and (name == inner[-1] or name.startswith(f"{inner[-1]}["))
    }
    return " and ".join(sorted(states)) or "not run"


def end_with_children(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started, commands in sessions of their own included."""
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    for child in started:
        with suppress(psutil.NoSuchProcess):
            child.kill()


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the tracked files, in which defects are planted one at a time."""

    folder: Path

    @staticmethod
    def of(root: Path, folder: Path) -> "Copy":
        """A fresh copy, without anything that was compiled before."""
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                copyfile(root / name, folder / name)
                copymode(root / name, folder / name)
        copy = Copy(folder)
        told = subprocess.run(
            [sys.executable, "-c", OWN_PACKAGE],
            cwd=folder.parent,
            env=copy.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        if folder not in Path(told.stdout.strip()).parents:
            raise ValueError(f"{told.stdout.strip()} would be tested, not {folder}")
        return copy

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which the copy is the package; no stale bytecode hides a change."""
        return {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_ADDOPTS": "",
        }

    @contextmanager
    def planted(self, defect: Defect) -> Iterator[None]:
        """The copy with a defect, as long as the block lasts."""
        path = self.folder / defect.file
        text = path.read_text(encoding="utf-8")
        path.write_text(defect.planted(text), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")

    def run(self, tests: Iterable[str], patience: float | None = None) -> tuple[int, Outcomes]:
        """The exit code of pytest, and what became of every test that it ran."""
        report, scratch = (self.folder.with_suffix(suffix) for suffix in (".xml", ".tmp"))
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            [*command, f"--basetemp={scratch}", f"--junitxml={report}", *tests],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        finally:
            if process.poll() is None:
                end_with_children(process)
        return code, outcomes(report) if report.exists() else {}


def missed(defect: Defect, copy: Copy) -> list[str]:
    """Tests that should fail with a defect and do not, with what became of them instead."""
    with copy.planted(defect):
        code, found = copy.run(defect.caught_by, PATIENCE)
    states = {test: outcome_of(test, found) for test in defect.caught_by}
    wrong = [f"{test}: {state}" for test, state in states.items() if state != "failure"]
    if code != 1 and not wrong:
        wrong.append(f"pytest ended with {code}")
    return wrong


def judge(defects: Sequence[Defect], copies: Sequence[Copy]) -> Iterator[Judged]:
    """All defects in the order of the table, as many at a time as there are copies."""
    free: queue.Queue[Copy] = queue.Queue()
    for copy in copies:
        free.put(copy)

    def judged(defect: Defect) -> Judged:
        copy, began = free.get(), time.monotonic()
        try:
            wrong = missed(defect, copy)
        finally:
            free.put(copy)
        return defect, time.monotonic() - began, wrong

    with ThreadPoolExecutor(len(copies)) as workers:
        yield from workers.map(judged, defects)


def check_untouched(defects: Sequence[Defect], copy: Copy) -> None:
    """Fail unless every test of the table passes without a defect, and none is skipped."""
    tests = list(dict.fromkeys(test for defect in defects for test in defect.caught_by))
    code, found = copy.run(tests)
    states = {test: outcome_of(test, found) for test in tests}
    wrong = [f"{test}: {state}" for test, state in states.items() if state != "passed"]
    if wrong or code:
        told = "\n  ".join(["without a defect, tests must pass:", *wrong])
        raise ValueError(f"{told}\n  pytest ended with {code}")


@click.command()
@click.option("--only", default="", help="Only defects whose name holds this text.")
@click.option("--jobs", default=2, show_default=True, help="Defects at a time.")
def main(only: str, jobs: int) -> None:
    """Plant every defect of the table and run the tests that must catch it."""
    # Shells start what runs in the background with Ctrl-C ignored, and so would all tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    try:
        defects = read_table()
        check_table(defects)
        chosen = [defect for defect in defects if only in defect.name]
        with TemporaryDirectory(prefix="defects-") as folder:
            copies = [Copy.of(ROOT, Path(folder) / f"copy-{number}") for number in range(jobs)]
            check_untouched(chosen, copies[0])
            click.echo(f"untouched, all tests pass: {time.monotonic() - began:.0f} s")
            escaped = 0
            for defect, seconds, wrong in judge(chosen, copies):
                escaped += bool(wrong)
                click.echo(f"{'MISSED' if wrong else 'caught'}  {seconds:5.1f}  {defect.name}")
                for line in wrong:
                    click.echo(f"        {line}")
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo(
        f"{len(chosen) - escaped} of {len(chosen)} caught in {time.monotonic() - began:.0f} s"
    )
    sys.exit(1 if escaped or not chosen else 0)


if __name__ == "__main__":
    main()
