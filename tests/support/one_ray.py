"""Commands that share one process and one local Ray: starting both takes longer than a small run.

For claims about runs, not about processes: those need the ``Place`` of ``commands.py``, since a
shared Ray skips what guards a private one.
"""

import json
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from support.commands import PATIENCE, SPACE, Done, Place

SERVER = Path(__file__).with_name("one_ray_server.py")


class OneRay:
    """A process that takes commands; it and its workers have one cache."""

    def __init__(self, process: subprocess.Popen[str], cache: Path) -> None:
        self._process, self.cache = process, cache

    def run(self, folder: Path, *words: str) -> Done:
        """A command, given in a folder, from its start to its end."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        print(json.dumps([str(folder), words]), file=asked, flush=True)
        ready, _, _ = select.select([answers], [], [], PATIENCE)
        line = answers.readline() if ready else ""
        assert line, f"no answer to {words}"
        return Done(*json.loads(line))


@contextmanager
def one_ray(folder: Path, environment: Mapping[str, str]) -> Iterator[OneRay]:
    """Ray for as long as the block lasts; workers find modules that lie in the folder."""
    cache = folder / "cache"
    with subprocess.Popen(
        [sys.executable, SERVER],
        cwd=folder,
        env={**environment, "XDG_CACHE_HOME": str(cache)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield OneRay(process, cache)
            process.communicate(timeout=PATIENCE)
        finally:
            process.kill()


class SharedPlace(Place):
    """A place whose commands share a process and a Ray with those of others."""

    def __init__(self, folder: Path, ray: OneRay, space: str = SPACE) -> None:
        super().__init__(folder, space)
        self._ray = ray

    def run(self, *words: str) -> Done:
        return self._ray.run(self.folder, *words)

    def run_alone(self, *words: str) -> Done:
        """A command in a process of its own, such as one whose every digit counts."""
        return super().run(*words)

    def _environment(self) -> dict[str, str]:
        # A spectrum that is computed twice may differ in its last digits.
        return {**super()._environment(), "XDG_CACHE_HOME": str(self._ray.cache)}
