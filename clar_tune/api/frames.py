"""Rows as DataFrames; pandas is loaded by these functions alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


def frame_of_table(run: str, table: str, rows: Any) -> DataFrame:
    """A table of a run as the store gives it, JSON as what it holds, parameters as columns.

    A parameter that is called as a column of the table is, gets ``param_`` before its name.
    """
    import pandas as pd

    from clar_tune.store import json_values

    frame = rows.to_pandas()
    frame.insert(0, "run", run)
    for name, values in json_values(table, rows).items():
        frame[name] = pd.Series(values, index=frame.index, dtype=object)
    params = pd.DataFrame(list(frame.pop("params")), index=frame.index)
    params = params.rename(columns=lambda name: f"param_{name}" if name in frame else name)
    return pd.concat([frame, params], axis=1)


def frame_of_answer(answer: Any) -> DataFrame:
    """The answer to a query."""
    import pandas  # noqa: F401  what follows needs it, and says so less clearly

    return answer.to_pandas()


def frame_of_records(records: Sequence[dict[str, Any]]) -> DataFrame:
    """One line per record; a record inside one gives a column for each of its fields."""
    import pandas as pd

    return pd.json_normalize(list(records), sep="_")
