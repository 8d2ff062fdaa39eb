"""Several ``clar-tune run`` on one local Ray: starting it takes longer than a small run does.

`python runs_on_one_ray.py '[["--space", "a.yaml"], ["--space", "b.yaml"]]'` exits with the number
of runs that failed.
"""

import json
import sys
from contextlib import nullcontext

from clar_tune.cli import main
from clar_tune.cluster import driver


def run(words: list[str]) -> bool:
    """Whether a run succeeded."""
    try:
        main(["run", *words])
    except SystemExit as done:
        return not done.code
    return True


if __name__ == "__main__":
    with driver._cluster("local") as nodes:
        driver._cluster = lambda address: nullcontext(nodes)
        done = [run(words) for words in json.loads(sys.argv[1])]
    sys.exit(done.count(False))
