"""Commands on one local Ray, one after the other in one process: see ``one_ray.py``.

Reads a folder and the words of a command as a line of JSON, and answers with its exit code and
both of its outputs.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from tempfile import TemporaryFile
from typing import IO

from clar_tune.cli import main
from clar_tune.cluster import driver


@contextmanager
def sent_to(out: IO[str], err: IO[str]) -> Iterator[None]:
    """Both streams, also what is written past Python, go to files."""
    kept = [os.dup(1), os.dup(2)]
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)


def called(folder: str, words: list[str]) -> tuple[int, str, str]:
    """Exit code and outputs of a command given in a folder."""
    os.chdir(folder)
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        code = 0
        with sent_to(out, err):
            try:
                main(words, prog_name="clar-tune")
            except SystemExit as ended:
                code = int(ended.code or 0)
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


if __name__ == "__main__":
    with driver._cluster(driver.Launch()) as nodes:
        driver._cluster = lambda launch, *modules: nullcontext(nodes)
        for line in sys.stdin:
            sys.stdout.write(f"{json.dumps(called(*json.loads(line)))}\n")
            sys.stdout.flush()
