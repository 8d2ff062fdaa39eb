"""Planetoid's pickles, opened with an allow-list: arrays, CSR matrices, lists, nothing else."""

import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Kind = TypeVar("Kind")


def read_sparse_pickle(path: Path) -> sp.csr_array:
    """The CSR matrix in a file, rebuilt from its parts and checked."""
    # What the file says of the object is unchecked, and scipy's C code would trust it.
    parts = vars(_read(path, sp.csr_matrix))
    matrix = sp.csr_array(
        (parts["data"], parts["indices"], parts["indptr"]), shape=parts["_shape"]
    )
    matrix.check_format()
    return matrix


def read_array_pickle(path: Path) -> NDArray[Any]:
    """The array in a file."""
    return _read(path, np.ndarray)


def read_dict_pickle(path: Path) -> dict[int, list[int]]:
    """The neighbours of each node in a file."""
    return _read(path, dict)


def _read(path: Path, kind: type[Kind]) -> Kind:
    with path.open("rb") as file:
        value = _Unpickler(file).load()
    if not isinstance(value, kind):
        raise ValueError(f"it holds a {type(value).__name__}, not a {kind.__name__}")
    return value


def _plain_dtype(code: str, *_: object) -> np.dtype[Any]:
    """A fresh dtype: unpickling sets its byte order, which must not touch numpy's own."""
    return np.dtype(code, copy=True)


_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _plain_dtype,
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy.core.multiarray", "scalar"): np.float64(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("__builtin__", "int"): int,
    ("__builtin__", "long"): int,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, encoding="latin1")

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not allowed")
        return _ALLOWED[module, name]
