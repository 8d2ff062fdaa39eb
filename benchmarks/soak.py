"""Drivers that are killed, stopped, overtaken and refused, again and again; nothing may be lost.

    python -m benchmarks.soak [--cycles 200] [--minutes 30] [--seed 0]

A cycle is one run of ``stub_driver`` in a directory or a bucket, disturbed twice at random and
then brought to its end. After every disturbance each acknowledged row must be there, once, for
whoever reads the files; at the end budgets are exact and the result is that of an undisturbed run.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas

from benchmarks.s3_server import BUCKET, Server, s3_server
from clar_tune.store import Store, resolve
from clar_tune.store.lease import read_lease

EXPIRY = 0.6
PATIENCE = 120.0
POINTS = {
    "directory": (
        *("after-taking", "after-claims", "after-append 3", "between-tables trials 2"),
        *("before-rename repeats/ 2", "before-rename trials/ 3", "before-rename _wal.jsonl 2"),
        *("before-rename _lease.json 2", "before-removal _wal.jsonl", "before-rename finals/"),
    ),
    "bucket": (
        *("after-taking", "after-claims", "after-append 3", "between-tables repeats 2"),
        *("before-put repeats/ 2", "before-put trials/ 3", "before-put _lease.json 2"),
        *("before-put part-00001", "before-put finals/", "before-put runs/run=it/part 2"),
    ),
}
DISK = 2 << 20
ROOT = Path(__file__).parents[1]


class Violation(AssertionError):
    """Something that must never happen."""


class Cycle:
    """One run, from its first driver to its last."""

    def __init__(self, draw: random.Random, folder: Path, server: Server, count: Counter) -> None:
        self.draw, self.count, self.server = draw, count, server
        self.kind = draw.choice(("directory", "bucket"))
        self.folder, self.log = folder, folder / "acknowledged"
        self.log.touch()
        bucket = f"s3://{BUCKET}/{folder.name}"
        self.url = bucket if self.kind == "bucket" else str(folder / "store")
        self.environment = {
            **os.environ,
            "CLAR_TUNE_LEASE": f"0.15/{EXPIRY}",
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def run(self, expected: Any) -> None:
        """Disturb a few drivers, let one finish, and look at the result."""
        faults = [self.kill, self.stop_at_point, self.stop_anywhere]
        faults += [self.refuse, self.lose_answers] if self.kind == "bucket" else [self.fill_disk]
        for fault in self.draw.sample(faults, k=2):
            fault()
            self.check()
        self.end_well()
        self.check()
        if result_of(self.url) != expected:
            raise Violation(f"{self.url}: another result than without disturbances")

    def kill(self) -> None:
        """SIGKILL at any moment."""
        with self.driver() as process:
            if self.draw.random() < 0.7:
                self.at_work(process)
            time.sleep(self.draw.uniform(0.0, 0.6))
            self.count["kills"] += process.poll() is None
            process.kill()

    def stop_at_point(self) -> None:
        """SIGSTOP at a named point, a takeover, SIGCONT."""
        self.stop(self.draw.choice(POINTS[self.kind]))

    def stop_anywhere(self) -> None:
        """SIGSTOP at any moment, a takeover, SIGCONT."""
        self.stop("")

    def stop(self, point: str) -> None:
        """Let a stopped driver go on after another has finished."""
        with self.driver(CLAR_TUNE_STOP_AT=point) as first:
            if point:
                wait_for(lambda: stopped(first) or first.poll() is not None)
            else:
                self.at_work(first)
                time.sleep(self.draw.uniform(0.0, 0.4))
                first.send_signal(signal.SIGSTOP)
            if first.poll() is not None or not holds(self.url, first):
                return  # it had nothing left to do there, or has not come to the run yet
            self.count["stops"] += 1
            fenced = self.overtake() or self.kind == "directory"
            before = contents(self.url)
            first.send_signal(signal.SIGCONT)
            code, said = ended(first)
            if code != 1 or said.count("\n") != 1:
                raise Violation(f"{self.url}, {point}: went on with {code}: {said}")
            if fenced and contents(self.url) != before:
                raise Violation(f"{self.url}, {point}: wrote although it was overtaken")

    def refuse(self) -> None:
        """Writes are refused for a while."""
        self.faulty("slow-down", "refusals")

    def lose_answers(self) -> None:
        """Writes are done, and their writer is told that they are not."""
        self.faulty("lost-answer", "lost answers")

    def faulty(self, fault: str, name: str) -> None:
        """A driver at work on a bucket that has a fault for a while."""
        with self.driver() as process:
            self.at_work(process)
            self.server.requests()
            self.server.refuse_writes(fault)
            time.sleep(self.draw.uniform(0.2, 1.0))
            self.server.refuse_writes(None)
            self.count[name] += sum(
                line.endswith((" 503", " 500")) for line in self.server.requests()
            )
            if self.draw.random() < 0.5:
                process.kill()
            process.wait(PATIENCE)

    def fill_disk(self) -> None:
        """A driver on a disk that becomes full, and has room again."""
        store = Path(self.url)
        with small_disk(store) as mounted:
            if not mounted:
                return self.kill()
            with self.driver() as process:
                self.at_work(process)
                time.sleep(self.draw.uniform(0.0, 0.4))
                fill(store)
                ended(process)
                self.count["full disks"] += 1
            (store / "ballast").unlink(missing_ok=True)
            self.check()
        return None

    def overtake(self) -> bool:
        """Another driver takes the run; it finishes it, or is killed in its turn.

        True if it finished. One that is killed before it has claimed all parts of a bucket may
        leave some to the former driver: what arrives there counts, and is checked as all else.
        """
        self.count["takeovers"] += 1
        if self.draw.random() < 0.5:
            self.end_well()
            return True
        wait_for(lambda: expired(self.url))
        with self.driver() as second:
            self.at_work(second)
            time.sleep(self.draw.uniform(0.0, 0.4))
            self.count["kills"] += second.poll() is None
        return False

    def at_work(self, process: subprocess.Popen[str]) -> None:
        """Until a driver has the run, or has ended."""
        wait_for(lambda: process.poll() is not None or holds(self.url, process))

    def end_well(self) -> None:
        """A driver that nobody disturbs."""
        wait_for(lambda: expired(self.url))
        with self.driver() as process:
            code, said = ended(process)
        if code:
            raise Violation(f"{self.url}: a driver that nobody disturbed failed: {said}")

    def check(self) -> None:
        """Every acknowledged row is there once."""
        told = set(self.log.read_text().split())
        store = Store.open(self.url)
        if not store.runs():
            return
        rows = [*keys_of(store, "repeats"), *keys_of(store, "finals")]
        if len(rows) != len(set(rows)) or not told <= set(rows):
            raise Violation(f"{self.url}: {sorted(told - set(rows))} lost, or a key twice")
        for table in ("repeats", "finals"):
            plain = read_plainly(self.url, table)
            if len(plain) != len(set(plain)):
                raise Violation(f"{self.url}: a key of {table} stands twice in the files")
        self.count["rows checked"] += len(rows)

    @contextmanager
    def driver(self, **given: str) -> Iterator[subprocess.Popen[str]]:
        """A driver that is gone with the block."""
        command = [sys.executable, "-m", "benchmarks.stub_driver", self.url, "it", str(self.log)]
        environment = self.environment | {name: text for name, text in given.items() if text}
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def result_of(url: str) -> Any:
    """What a finished run came to: every configuration, score and number of repeats."""
    store = Store.open(url)
    trials = [(row.trial, row.state, row.repeats, row.params) for row in store.trials("it")]
    names = ["key", "trial", "repeat", "params", "val_score"]
    rows = {
        table: sorted(tuple(row.values()) for row in store.table(table, "it", names).to_pylist())
        for table in ("repeats", "finals")
    }
    return sorted(trials, key=str), rows, store.find("it").row.state


def keys_of(store: Store, table: str) -> list[str]:
    """Keys as a command sees them."""
    return [str(key) for key in store.table(table, "it", ["key"])["key"].to_pylist()]


def read_plainly(url: str, table: str) -> list[str]:
    """Keys as pandas alone sees them."""
    address = resolve(url)
    try:
        frame = pandas.read_parquet(f"{address.path}/{table}", filesystem=address.filesystem)
    except FileNotFoundError:
        return []
    return list(frame["key"]) if "key" in frame else []


def contents(url: str) -> dict[str, bytes | None]:
    """All that a store holds."""
    files = Store.open(url)._files
    return {path: files.read(path) for path in files.under("")}


def expired(url: str) -> bool:
    """Does the run have no driver that counts?"""
    holder = read_lease(Store.open(url)._files, "it")
    return holder is None or holder.ended or holder.age > EXPIRY


def holds(url: str, process: subprocess.Popen[str]) -> bool:
    """Is the run this process's, or on its way to it?"""
    holder = read_lease(Store.open(url)._files, "it")
    return holder is not None and holder.pid == process.pid and not holder.released


def stopped(process: subprocess.Popen[str]) -> bool:
    """Has a process stopped itself?"""
    with suppress(OSError):
        return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code of a process, and what it said."""
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said


def wait_for(moment: Any) -> None:
    """Until something has happened."""
    until = time.monotonic() + PATIENCE
    while not moment():
        if time.monotonic() > until:
            raise Violation("waited in vain")
        time.sleep(0.02)


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A disk of its own at a folder, whose content stays; false where nobody may mount one."""
    disk = folder.with_name("disk")
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True).returncode:
        disk.rmdir()
        yield False
        return
    folder.mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", f"{folder}/.", str(disk)], check=True)
    try:
        subprocess.run(["mount", "--bind", str(disk), str(folder)], check=True)
        try:
            yield True
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        subprocess.run(["cp", "-a", str(disk), str(folder)], check=True)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
        disk.rmdir()


def fill(folder: Path) -> None:
    """Take all space of a disk."""
    state = os.statvfs(folder)
    with suppress(OSError), (folder / "ballast").open("wb") as stream:
        stream.write(bytes(state.f_bavail * state.f_frsize))


def soak(cycles: int, minutes: float, seed: int) -> Counter:
    """Run cycles until there are enough or the time is over; the first violation ends it."""
    count: Counter = Counter()
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch, s3_server() as server:
        os.environ.update(server.environment)
        undisturbed = Cycle(random.Random(0), _folder(scratch, "undisturbed"), server, Counter())
        undisturbed.end_well()
        expected = result_of(undisturbed.url)
        for number in range(cycles):
            if time.monotonic() > until:
                break
            draw = random.Random(f"{seed} {number}")
            os.environ["XDG_CACHE_HOME"] = f"{scratch}/cycle-{number}/cache"
            Cycle(draw, _folder(scratch, f"cycle-{number}"), server, count).run(expected)
            count["cycles"] += 1
    return count


def _folder(scratch: str, name: str) -> Path:
    folder = Path(scratch, name)
    folder.mkdir()
    return folder


def main() -> None:
    """Print what happened; exit code 1 after a violation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    try:
        count, violations = soak(given.cycles, given.minutes, given.seed), []
    except Violation as violation:
        count, violations = Counter(), [str(violation)]
    figures = {**count, "violations": violations, "seconds": round(time.monotonic() - began)}
    print(json.dumps(figures, indent=2))
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
