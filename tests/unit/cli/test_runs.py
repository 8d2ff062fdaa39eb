"""``runs`` and ``show`` in print."""

import pytest
from click.testing import CliRunner
from support.results import SPACE, plausible, simulated, stored

from clar_tune.cli import main
from clar_tune.search.jobs import Failure

LONG = "a-name-that-is-longer-than-most"
CONDITION = "conditions: [{sweep: {hidden: [64], weight_decay: [0.0005]}}]\n"
"""It makes the table of studies wider than a hundred columns."""


def broken_nl(job, index):
    if job.spec.method == "gcn+nl":
        return Failure(index=index, kind="diverged", text="loss is NaN in epoch 3")
    return plausible(job, index)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    row, memory = simulated(SPACE + CONDITION, broken_nl)
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
    assert {line.index("2026-01-02") for line in lines} == {len(LONG) + len("  incomplete  ")}


def test_nothing_of_a_study_is_cut_off_a_terminal(store):
    text = printed("show", "short", "--store", store)
    assert "…" not in text
    assert " chameleon  gcn+dropedge  hidden=64,weight_decay=0.0005 " in text


def test_trials_that_failed_alike_are_told_in_one_line(store):
    text = printed("show", "short", "--store", store)
    assert [line for line in text.splitlines() if "diverged" in line] == [
        f"{graph} gcn+nl hidden=64,weight_decay=0.0005, trials 0, 1, 2, 3, 4, 5, 6, 7: "
        "failed (diverged): loss is NaN in epoch 3"
        for graph in ("chameleon", "cornell", "texas")
    ]
