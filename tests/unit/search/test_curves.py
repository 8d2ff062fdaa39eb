"""Finals keep the validation loss of every epoch where a run asks for it, and only there."""

import numpy as np
import pytest
from support.trained_runs import SPACE, run_in

from clar_tune.records import ENGINES
from clar_tune.rows import TABLES
from clar_tune.store import run_query

ONE = SPACE.replace("[0, 0.3]", "[0]").replace("gcn, gcn+clar", "gcn+clar")


@pytest.mark.parametrize("engine", ENGINES)
def test_finals_have_their_curves_where_they_are_asked_for(engine, tmp_path):
    store = run_in(tmp_path, ONE, engine=engine, curves=True)
    rows = store.table("finals", "small").to_pylist()
    assert len(rows) == 2
    for row in rows:
        assert len(row["curve"]) == row["epochs"]
        assert row["curve"][row["best_epoch"] - 1] == pytest.approx(row["val_loss"], rel=1e-6)
    assert "curve" not in store.table("repeats", "small").column_names
    asked = "SELECT repeat, unnest(curve) AS loss FROM finals ORDER BY ALL"
    losses = run_query(store, asked).to_pydict()["loss"]
    assert np.array_equal(sorted(losses), sorted(np.concatenate([row["curve"] for row in rows])))
    assert store.find("small").row.options["curves"] is True


def test_other_runs_have_none(tmp_path):
    store = run_in(tmp_path, ONE, engine="torch")
    rows = store.table("finals", "small").to_pylist()
    assert [row["curve"] for row in rows] == [None, None]
    assert "curves" not in store.find("small").row.options


def test_rows_are_held_without_them(tmp_path):
    """There may be a hundred thousand, which nobody reads who compares scores."""
    store = run_in(tmp_path, ONE, engine="torch", curves=True)
    assert all(final.curve is None for final in store.finals("small"))
    columns = {name for name in TABLES["finals"].__dataclass_fields__ if name != "curve"}
    (first, _) = store.table("finals", "small").to_pylist()
    held = store.finals("small")[0]
    for name in columns - {"params", "terms", "facts"}:
        assert getattr(held, name) == first[name], name
