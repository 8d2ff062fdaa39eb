"""``runs`` and ``show`` in print."""

import pytest
from click.testing import CliRunner
from results import simulated, stored

from clar_tune.cli import main

LONG = "a-name-that-is-longer-than-most"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    row, memory = simulated()
    for name in (LONG, "short"):
        stored(folder, row, memory, name)
    return str(folder)


def printed(*words: str) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def test_runs_stand_in_columns(store):
    lines = printed("runs", "--store", store).splitlines()
    assert {line.split()[0] for line in lines} == {LONG, "short"}
    assert {line.index("2026-01-02") for line in lines} == {len(LONG) + len("  finished  ")}


def test_nothing_of_a_study_is_cut_off_a_terminal(store):
    text = printed("show", "short", "--store", store)
    assert "…" not in text
    assert " chameleon  gcn+dropedge " in text


def test_trials_that_failed_alike_are_told_in_one_line(store):
    text = printed("show", "short", "--store", store)
    told = [line for line in text.splitlines() if "diverged" in line]
    assert len(told) == 3  # one for each graph
    line = next(line for line in told if " gcn+nl, trials " in line)
    assert line.endswith(": failed (diverged): loss is NaN in epoch 3")
    numbers = line.partition("trials ")[2].partition(":")[0].split(", ")
    assert len(numbers) > 1 and numbers == sorted(set(numbers), key=int)
