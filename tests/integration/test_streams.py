"""Noise goes to the log; what users should see still reaches the terminal."""

import subprocess
import sys


def test_output_of_all_kinds_goes_to_the_log_and_back(tmp_path):
    log = tmp_path / "logs" / "run.log"
    code = f"""
import os, subprocess, sys
from pathlib import Path
from clar_tune.cli.output import diverted
print("before")
with diverted(Path({str(log)!r})) as terminal:
    print("printed")
    sys.stderr.write("warned\\n")
    os.write(1, b"written by C\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    terminal.write("seen\\n")
print("after")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "before\nafter\n"
    assert done.stderr == "seen\n"
    for text in ("printed", "warned", "written by C", "from a child"):
        assert text in log.read_text()


def test_streams_come_back_after_an_error(tmp_path):
    code = f"""
from pathlib import Path
from clar_tune.cli.output import diverted
try:
    with diverted(Path({str(tmp_path / "log")!r})):
        raise ValueError
except ValueError:
    print("back")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "back\n"
