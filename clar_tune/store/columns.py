"""Columns of numbers as a Parquet file of their own, beside any store."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray


def write_columns(file: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays with one row each per entry; rows of a matrix become lists."""
    arrays = {name: _array(values) for name, values in columns.items()}
    pq.write_table(pa.table(arrays), file, compression="zstd")


def _array(values: NDArray[Any]) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values)
    flat = pa.array(np.ascontiguousarray(values).ravel())
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1]).cast(pa.list_(flat.type))
