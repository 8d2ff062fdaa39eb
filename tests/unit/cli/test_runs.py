"""``runs``, ``show`` and ``best`` in print."""

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
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


def test_a_width_that_is_asked_for_is_kept(store, monkeypatch):
    """Also off a terminal."""
    for width in (150, 90):
        monkeypatch.setenv("COLUMNS", str(width))
        text = printed("compare", "short", "--store", store)
        assert max(map(cell_len, text.splitlines())) == width
        table = printed("show", "short", "--store", store).split("\n\n")[-1]
        rows = [line for line in table.splitlines() if line.startswith((" texas", " graph"))]
        assert rows and max(map(cell_len, rows)) <= width
    monkeypatch.setenv("COLUMNS", "wide")
    text = printed("compare", "short", "--store", store)
    assert max(map(cell_len, text.splitlines())) == 100


def test_trials_that_failed_alike_are_told_in_one_line(store):
    text = printed("show", "short", "--store", store)
    assert [line for line in text.splitlines() if "diverged" in line] == [
        f"{graph} gcn+nl hidden=64,weight_decay=0.0005, trials 0, 1, 2, 3, 4, 5, 6, 7: "
        "failed (diverged): loss is NaN in epoch 3"
        for graph in ("chameleon", "cornell", "texas")
    ]


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory):
    """A run whose studies tried each other's points, on one graph."""
    folder = tmp_path_factory.mktemp("store")
    row, memory = simulated(SPACE, plausible, sampler="random", trials=8, graphs=("texas",))
    assert any(trial.shared_from for trial in memory.trials.values())
    stored(folder, row, memory, "short")
    return str(folder)


def test_where_points_came_from_is_told_when_it_is_asked_for(exchanged):
    usual, whole = (
        printed("show", "short", *more, "--store", exchanged).splitlines()
        for more in ([], ["--origins"])
    )
    sources = [line for line in whole if "shared parameters of others: trial " in line]
    assert sources and not set(sources) & set(usual)
    count = sum(line.count("trial ") for line in sources) // 2
    assert (
        f"{count} trials tried shared parameters of other methods; --origins tells which" in usual
    )
    assert len(usual) == len(whole) - len(sources) + 1


def test_the_only_graph_need_not_be_named(exchanged):
    named = printed("best", "--graph", "texas", "--method", "gcn+clar", "--store", exchanged)
    assert printed("best", "--method", "gcn+clar", "--store", exchanged) == named
    assert named.startswith("# gcn+clar on texas, trial ")


def test_all_that_is_to_be_chosen_is_asked_for_at_once(store, exchanged):
    done = CliRunner().invoke(main, ["best", "--run", "short", "--store", store])
    assert done.exit_code == 2
    assert done.output.splitlines()[-1] == (
        "Error: which winner of short? --graph: chameleon, cornell, texas; --method: gcn, "
        "sage, gcn+dropedge, gcn+clar, sage+clar."
    )
    done = CliRunner().invoke(main, ["best", "--store", exchanged])
    assert "Error: which winner of short? --method: gcn, " in done.output


def test_the_only_condition_need_not_be_named(store):
    words = ("best", "--run", "short", "--graph", "texas", "--method", "gcn", "--store", store)
    assert printed(*words) == printed(*words, "--condition", "hidden=64,weight_decay=0.0005")
