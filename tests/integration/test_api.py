"""Runs that a Python program drives, on a local Ray."""

import json
import subprocess
import sys

from support.commands import Place, assert_exact

PROGRAM = """\
import json, signal, threading
import clar_tune as ct
from clar_tune.cluster import Launch
from clar_tune.space import Options

def handlers():
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

before, outcomes = handlers(), []

def work():
    outcomes.append(
        ct.run(
            "space.yaml",
            store="store",
            name="it",
            options=Options(trials=3, repeats=2, finals=1),
            launch=Launch(max_concurrent=2),
        )
    )

thread = threading.Thread(target=work)
thread.start()
thread.join()
outcomes.append(ct.resume("it", store="store"))
outcomes.append(ct.extend("it", store="store", finals=1))
assert handlers() == before
with open("outcomes.json", "w") as file:
    json.dump([(o.name, o.state, o.worked, dict(o.lacks)) for o in outcomes], file)
"""


def test_a_program_begins_a_run_in_a_thread_and_extends_it_without_a_word(tmp_path):
    place = Place(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "outcomes.json").read_text()) == [
        ["it", "finished", True, {}],
        ["it", "finished", False, {}],
        ["it", "finished", True, {}],
    ]
    assert_exact(place, "it", trials=3, repeats=2, finals=2)
