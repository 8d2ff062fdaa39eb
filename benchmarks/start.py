"""CPU time of what everybody waits for: importing the package, and help.

Each is measured in fresh processes, and is the median of them.

    python -m benchmarks.start
"""

import resource
import subprocess
import sys
from statistics import median

import click

STARTS = {
    "python, doing nothing": ("-c", "pass"),
    "import clar_tune": ("-c", "import clar_tune"),
    "clar-tune --help": ("-m", "clar_tune", "--help"),
    "clar-tune run --help": ("-m", "clar_tune", "run", "--help"),
}


@click.command()
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(1))
def main(rounds: int) -> None:
    """Start each of them, one after the other."""
    seconds: dict[str, list[float]] = {name: [] for name in STARTS}
    for _ in range(rounds):
        for name, words in STARTS.items():
            seconds[name].append(spent(words))
    for name, found in seconds.items():
        print(f"{name:24}{median(found):.3f} s")


def spent(words: tuple[str, ...]) -> float:
    """CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
