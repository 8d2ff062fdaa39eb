"""Sparse matrices in compressed rows whose products are cheap to differentiate."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clar_tune.models.dropout import dropped

with warnings.catch_warnings():
    # torch says once per process that CSR tensors are in beta: said here, heard by nobody.
    warnings.simplefilter("ignore")
    torch.eye(1).to_sparse_csr()

BLOCK = 32
"""As many columns of a dense factor are multiplied at once."""

ENTRIES_PER_LINE = 10
"""With fewer entries per row and column a sparse matrix is multiplied with all columns at once."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the entries of a sparse matrix stand, row by row.

    Indices are 32 bit wide: MKL multiplies those without converting them on every call.
    """

    indptr: Tensor  # [rows + 1] int32
    indices: Tensor  # [entries] int32: the column of each entry
    num_cols: int

    @staticmethod
    def of(rows: Tensor, cols: Tensor, num_rows: int, num_cols: int) -> "Pattern":
        """The pattern with these entries, doubles merged, sorted by row and column."""
        bits = _bits(rows, max(num_rows, num_cols))
        return Pattern._of_packed(_packed(rows, cols, bits), bits, num_rows, num_cols)

    @staticmethod
    def symmetric(rows: Tensor, cols: Tensor, size: int) -> "Pattern":
        """The square pattern with these entries and their mirror images, sorted, each once."""
        bits = _bits(rows, size)
        both = torch.cat([_packed(rows, cols, bits), _packed(cols, rows, bits)])
        return Pattern._of_packed(both, bits, size, size)

    @staticmethod
    def _of_packed(packed: Tensor, bits: int, num_rows: int, num_cols: int) -> "Pattern":
        distinct = torch.unique_consecutive(ascending(packed))
        rows, cols = distinct >> bits, distinct.int()
        if bits == 16:  # the sign bit is a bit like any other
            rows, cols = rows.bitwise_and_(0xFFFF), cols.bitwise_and_(0xFFFF)
        return Pattern(_starts(torch.bincount(rows, minlength=num_rows)), cols, num_cols)

    @staticmethod
    def doubled(rows: Tensor, cols: Tensor, size: int) -> tuple["Pattern", Tensor]:
        """These entries and their mirror images, sorted, doubles kept; and which are the first.

        Its size is known without reading a number back, unlike that of :meth:`symmetric`.
        """
        packed = torch.cat([keys(rows, cols), keys(cols, rows)]).sort()[0]
        first = torch.ones_like(packed, dtype=torch.bool)
        first[1:] = packed[1:] != packed[:-1]
        numbers = torch.arange(size + 1, device=packed.device) << 32
        indptr = torch.searchsorted(packed, numbers, out_int32=True)
        return Pattern(indptr, packed.int(), size), first

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.indptr) - 1, self.num_cols

    def equals(self, other: "Pattern") -> bool:
        """Whether the entries stand in the same places."""
        same = torch.equal(self.indptr, other.indptr)
        return same and torch.equal(self.indices, other.indices)

    @cached_property
    def row_counts(self) -> Tensor:
        """Number of entries in each row."""
        return self.indptr.diff()

    @cached_property
    def rows(self) -> Tensor:
        """The row of each entry."""
        numbers = torch.arange(self.shape[0], device=self.indptr.device, dtype=torch.int32)
        size = len(self.indices)
        return torch.repeat_interleave(numbers, self.row_counts, output_size=size)

    @cached_property
    def transposition(self) -> tuple["Pattern", Tensor]:
        """The transposed pattern, and for each of its entries the place of it in this one."""
        order = torch.argsort(self.indices, stable=True)
        counts = torch.bincount(self.indices, minlength=self.num_cols)
        return Pattern(_starts(counts), self.rows[order], self.shape[0]), order

    def select(self, keep: Tensor) -> "Pattern":
        """The pattern of those entries for which ``keep`` is true; nothing is sorted."""
        indptr = _starts(keep).index_select(0, self.indptr)
        return Pattern(indptr, self.indices[keep], self.num_cols)

    def with_diagonal(self) -> "Pattern":
        """This pattern plus the diagonal, which it must not hold yet, last in each row."""
        numbers = torch.arange(len(self.indptr), device=self.indptr.device, dtype=torch.int32)
        indptr = self.indptr + numbers
        size = len(self.indices) + self.shape[0]
        indices = torch.empty(size, dtype=torch.int32, device=self.indptr.device)
        indices[torch.arange(len(self.indices), device=self.rows.device) + self.rows] = (
            self.indices
        )
        indices[indptr[1:].long() - 1] = numbers[:-1]
        return Pattern(indptr, indices, self.num_cols)

    def blocks(self, count: int, *, alike: bool = False) -> list["Pattern"]:
        """The patterns of ``count`` equal square blocks on the diagonal.

        If they are said to hold equally many entries, nothing is read to find where they end.
        """
        size = self.num_cols // count
        most = len(self.indices) // count
        ends = [k * most for k in range(count + 1)] if alike else self.indptr[::size].tolist()
        return [
            Pattern(
                self.indptr[number * size : (number + 1) * size + 1] - start,
                self.indices[start:end] - number * size,
                size,
            )
            for number, (start, end) in enumerate(zip(ends, ends[1:], strict=False))
        ]

    def filled(self, values: Tensor) -> Tensor:
        """The torch CSR tensor that has ``values`` at this pattern's entries."""
        return torch.sparse_csr_tensor(
            self.indptr, self.indices, values, size=self.shape, check_invariants=False
        )


class Csr:
    """A constant sparse matrix; ``matrix @ dense`` is differentiable in ``dense``.

    torch transposes a sparse factor anew in every backward pass. Here the transposed matrix
    is built once; a symmetric one is its own.
    """

    def __init__(self, pattern: Pattern, values: Tensor, *, symmetric: bool = False) -> None:
        self.pattern = pattern
        self.values = values
        self.symmetric = symmetric

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.pattern.shape

    @cached_property
    def tensor(self) -> Tensor:
        """This matrix as a torch CSR tensor."""
        return self.pattern.filled(self.values)

    @cached_property
    def transposed(self) -> "Csr":
        """The transposed matrix."""
        if self.symmetric:
            return self
        pattern, order = self.pattern.transposition
        return Csr(pattern, self.values.index_select(0, order))

    def dropout(self, rate: float) -> "Csr":
        """This matrix with each stored value dropped at ``rate``, the rest scaled up.

        Zeros stay zero under dropout, so this is dropout of the dense matrix.
        """
        return Csr(self.pattern, dropped(self.values, rate))

    def to_dense(self) -> Tensor:
        """The dense matrix."""
        return self.tensor.to_dense()

    def __matmul__(self, dense: Tensor) -> Tensor:
        result: Tensor = _Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return result


def product(matrix: Tensor, dense: Tensor) -> Tensor:
    """``matrix @ dense`` for a torch CSR tensor, without the copies that the operator makes.

    A wide ``dense`` falls out of the caches between the entries that read one row of it; a block
    of its columns stays there. Each column is summed as before, so that bits are the same.
    """
    result = dense.new_empty(matrix.shape[0], dense.shape[1])
    if not _better_in_blocks(matrix, dense):
        return torch.addmm(result, matrix, dense, beta=0.0, out=result)
    for own, block in zip(
        torch.split(result, BLOCK, 1), torch.split(dense, BLOCK, 1), strict=True
    ):
        torch.addmm(own, matrix, block.contiguous(), beta=0.0, out=own)
    return result


def _better_in_blocks(matrix: Tensor, dense: Tensor) -> bool:
    """Whether rows are read often enough to be worth the copies of blocks, on a CPU."""
    if dense.device.type != "cpu" or dense.shape[1] < 2 * BLOCK:
        return False
    return matrix._nnz() >= ENTRIES_PER_LINE * sum(matrix.shape)


def keys(rows: Tensor, cols: Tensor) -> Tensor:
    """One number per entry, ascending with row, then column; 32 bit hold each of them."""
    return (rows.long() << 32) + cols


def ascending(packed: Tensor) -> Tensor:
    """Packed entries in order; on a CPU by numpy, whose vectorised sort is much faster."""
    if packed.device.type != "cpu":
        return packed.sort()[0]
    array = packed.numpy()
    if packed.dtype == torch.int32:
        return torch.from_numpy(np.sort(array.view(np.uint32)).view(np.int32))
    return torch.from_numpy(np.sort(array))


def _bits(rows: Tensor, size: int) -> int:
    """How many bits of a packed entry hold its column: keys of half the size sort faster."""
    return 16 if size <= 2**16 and rows.device.type == "cpu" else 32


def _packed(rows: Tensor, cols: Tensor, bits: int) -> Tensor:
    """One number per entry, ascending with row, then column."""
    if bits == 16:
        return (rows.int() << 16) | cols.int()
    return keys(rows, cols)


def _starts(counts: Tensor) -> Tensor:
    """Where each row begins and, last, where all end."""
    starts = torch.zeros(len(counts) + 1, dtype=torch.int32, device=counts.device)
    torch.cumsum(counts, 0, dtype=torch.int32, out=starts[1:])
    return starts


class _Product(torch.autograd.Function):
    r"""``Y = M X`` with :math:`\partial X = M^\top \partial Y`."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Csr) -> Tensor:
        ctx.matrix = matrix
        return product(matrix.tensor, dense)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return product(ctx.matrix.transposed.tensor, grad.contiguous()), None
