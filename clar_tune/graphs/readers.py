"""Raw files of the public graphs, read into arrays; features stay sparse from the file on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clar_tune.errors import GraphError
from clar_tune.graphs.graph import FixedSplits, merge_duplicates
from clar_tune.graphs.safe_pickle import read_array_pickle, read_dict_pickle, read_sparse_pickle


class RawGraph(NamedTuple):
    """What the files of one graph say, before any preprocessing."""

    features: sp.csr_array  # [N, F] float32
    edges: NDArray[np.int64]  # [2, E]
    labels: NDArray[np.int64]  # [N]
    fixed: FixedSplits | None = None


Kind = TypeVar("Kind")
Reader = Callable[[Sequence[Path]], RawGraph]


def read_planetoid(paths: Sequence[Path]) -> RawGraph:
    """Eight ``ind.NAME.*`` files: x, tx, allx, y, ty, ally, graph, test.index.

    The test nodes stand in ``tx`` in the order of ``test.index``. CiteSeer lists fewer test
    nodes than its index spans: the gaps are isolated nodes without features, of class 0.
    The public split: the rows of ``y`` train, the next 500 validate, the index tests.
    """
    _, tx, allx = (_pickled(path, read_sparse_pickle) for path in paths[:3])
    y, ty, ally = (_pickled(path, read_array_pickle) for path in paths[3:6])
    neighbours = _pickled(paths[6], read_dict_pickle)
    with _reading(paths[7]):
        test = np.loadtxt(paths[7], dtype=np.int64, ndmin=1)
        first, last = int(test.min()), int(test.max())
        if first != allx.shape[0] or len(test) != tx.shape[0]:
            raise ValueError("its nodes do not continue those of allx by the rows of tx")
    with _reading(paths[0].parent):
        place = sp.csr_array(
            (np.ones(len(test), np.float32), (test - first, np.arange(len(test)))),
            shape=(last - first + 1, len(test)),
        )
        labels = np.zeros(last + 1, np.int64)
        labels[:first], labels[test] = ally.argmax(axis=1), ty.argmax(axis=1)
        source = np.repeat(list(neighbours), [len(near) for near in neighbours.values()])
        target = np.concatenate(list(neighbours.values()))
        edges = np.stack([source, target]).astype(np.int64)
        return _checked(
            features=sp.vstack([allx, place @ tx], format="csr"),
            edges=edges[:, edges[0] != edges[1]],
            labels=labels,
            fixed=_public_split(len(y), test, len(labels)),
        )


def read_shchur(paths: Sequence[Path]) -> RawGraph:
    """One npz with ``attr_*`` and ``adj_*`` in CSR form and ``labels`` (Amazon, Coauthor).

    Every positive feature counts as 1; edges are made undirected, self-loops dropped.
    """
    with _reading(paths[0]), np.load(paths[0], allow_pickle=False) as file:
        features, adjacency = _stored_csr(file, "attr"), _stored_csr(file, "adj")
        features.data[features.data > 0] = 1
        # int64 before stacking: files store int32, and N * N must not overflow later.
        edges = np.stack(adjacency.tocoo().coords).astype(np.int64)
        edges = edges[:, edges[0] != edges[1]]
        return _checked(features, _both_ways(edges), file["labels"])


def read_geom_gcn(paths: Sequence[Path]) -> RawGraph:
    """Node rows ``id, 0/1 features, label``, then edge rows, then one npz per split."""
    rows = _text_rows(paths[0])
    with _reading(paths[0]):
        words = [_ones_of(row[1]) for row in rows]
        width = (len(rows[0][1]) + 1) // 2
        if any(len(row[1]) != 2 * width - 1 for row in rows):
            raise ValueError("its rows have different numbers of features")
        features = _indicator(words, width)
        labels = np.array([int(row[2]) for row in rows])
    return _with_edges_and_splits(features, labels, paths)


def read_actor(paths: Sequence[Path]) -> RawGraph:
    """Node rows ``id, list of words, label`` in any order, then edge rows, then splits."""
    rows = _text_rows(paths[0])
    with _reading(paths[0]):
        rows.sort(key=lambda row: int(row[0]))
        if [int(row[0]) for row in rows] != list(range(len(rows))):
            raise ValueError("its node ids are not 0, 1, 2, ...")
        words = [np.unique(np.array(row[1].split(","), np.int64)) for row in rows]
        features = _indicator(words, 1 + max(int(listed[-1]) for listed in words))
        labels = np.array([int(row[2]) for row in rows])
    return _with_edges_and_splits(features, labels, paths)


def read_heterophilous(paths: Sequence[Path]) -> RawGraph:
    """One npz: features, labels, edges listed once, and perhaps a row of masks per split."""
    with _reading(paths[0]), np.load(paths[0], allow_pickle=False) as file:
        masks = [f"{part}_masks" for part in ("train", "val", "test")]
        split = any(name in file for name in masks)
        return _checked(
            features=sp.csr_array(file["node_features"]),
            edges=_both_ways(file["edges"].T),
            labels=file["node_labels"],
            fixed=FixedSplits(*(file[name].T for name in masks)) if split else None,
        )


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file makes the parsers raise into one error that names it."""
    try:
        yield
    except GraphError:
        raise
    except FileNotFoundError as error:
        raise GraphError(
            f"{path} is missing. Put it there, or move its folder away to download the graph."
        ) from error
    # No narrower class will do: damaged bytes make numpy, zipfile and pickle raise anything.
    except Exception as error:
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise GraphError(
            f"{path} is damaged or not the file expected ({cause}). "
            "Replace it, or move its folder away to download the graph."
        ) from error


def _checked(
    features: sp.csr_array,
    edges: NDArray[np.integer[Any]],
    labels: NDArray[np.integer[Any]],
    fixed: FixedSplits | None = None,
) -> RawGraph:
    """The arrays in canonical form: sorted and merged, no stored zeros, one type each."""
    count = len(labels)
    if features.shape[0] != count:
        raise ValueError(f"{features.shape[0]} feature rows, {count} labels")
    if edges.size == 0 or edges.min() < 0 or edges.max() >= count or labels.min() < 0:
        raise ValueError(f"edges or labels outside the {count} nodes")
    if fixed and {fixed.train.shape, fixed.val.shape, fixed.test.shape} != {(count, fixed.count)}:
        raise ValueError(f"the masks do not fit {count} nodes")
    features = sp.csr_array(features, dtype=np.float32)
    features.sum_duplicates()
    features.eliminate_zeros()
    edges = merge_duplicates(edges.astype(np.int64), count)
    return RawGraph(features, edges, labels.astype(np.int64), fixed)


def _pickled(path: Path, read: Callable[[Path], Kind]) -> Kind:
    with _reading(path):
        return read(path)


def _both_ways(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([edges, edges[::-1]], axis=1)


def _stored_csr(file: Mapping[str, NDArray[Any]], prefix: str) -> sp.csr_array:
    parts = tuple(file[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
    rows, columns = file[f"{prefix}_shape"].tolist()
    matrix = sp.csr_array(parts, shape=(rows, columns))
    matrix.check_format()  # scipy does not check indices by itself, and its C code trusts them
    matrix.sum_duplicates()
    return matrix


def _text_rows(path: Path) -> list[list[str]]:
    """Tab-separated rows of three after a header line."""
    with _reading(path):
        lines = _lines(path)
        rows = [line.split("\t") for line in lines[1:]]
        if not rows or any(len(row) != 3 for row in rows):
            raise ValueError("not every row has three columns")
        return rows


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="ascii")
    if not text.endswith("\n"):
        raise ValueError("its last line is cut off")
    return text[:-1].split("\n")


def _ones_of(row: str) -> NDArray[np.int64]:
    """Positions of the ones in ``0,1,0``; ten times faster than parsing numbers."""
    symbols = np.frombuffer(row.encode(), np.uint8)
    digits, commas = symbols[::2] - ord("0"), symbols[1::2]
    if len(symbols) % 2 == 0 or (digits > 1).any() or (commas != ord(",")).any():
        raise ValueError("a feature row is not a list of 0 and 1")
    return np.flatnonzero(digits)


def _indicator(words: Sequence[NDArray[np.int64]], width: int) -> sp.csr_array:
    """Row i holds a one at each of ``words[i]``."""
    indices = np.concatenate(words)
    indptr = np.cumsum([0, *map(len, words)])
    matrix = sp.csr_array(
        (np.ones(len(indices), np.float32), indices, indptr), shape=(len(words), width)
    )
    matrix.check_format()
    return matrix


def _with_edges_and_splits(
    features: sp.csr_array, labels: NDArray[np.int64], paths: Sequence[Path]
) -> RawGraph:
    """Edges as listed (directed, self-loops kept) and the split files in their order."""
    with _reading(paths[1]):
        edges = np.loadtxt(_lines(paths[1])[1:], dtype=np.int64, delimiter="\t", ndmin=2)
        if edges.shape[1] != 2:
            raise ValueError("not every row has two columns")
        raw = _checked(features, edges.T, labels)
    masks: list[list[NDArray[np.bool_]]] = []
    for path in paths[2:]:
        with _reading(path), np.load(path, allow_pickle=False) as file:
            masks.append([file[f"{part}_mask"] != 0 for part in ("train", "val", "test")])
            if any(mask.shape != labels.shape for mask in masks[-1]):
                raise ValueError(f"its masks do not fit {len(labels)} nodes")
    columns = (np.stack(part, axis=1) for part in zip(*masks, strict=True))
    return raw._replace(fixed=FixedSplits(*columns))


def _public_split(training: int, test: NDArray[np.int64], count: int) -> FixedSplits:
    masks = np.zeros((3, count, 1), np.bool_)
    masks[0, :training] = True
    masks[1, training : training + 500] = True
    masks[2, test] = True
    return FixedSplits(*masks)
