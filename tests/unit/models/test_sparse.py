import pytest
import torch

from clar_tune.models.sparse import BLOCK, Csr, Pattern, product


@pytest.fixture
def entries() -> tuple[torch.Tensor, torch.Tensor]:
    """A 3 x 4 matrix with an empty row: (0,1) (0,3) (2,0) (2,1), in disorder and doubled."""
    return torch.tensor([2, 0, 2, 0, 2]), torch.tensor([1, 3, 0, 1, 1])


def test_a_pattern_merges_doubles_and_sorts(entries):
    pattern = Pattern.of(*entries, 3, 4)
    assert pattern.indptr.tolist() == [0, 2, 2, 4]
    assert pattern.indices.tolist() == [1, 3, 0, 1]
    assert pattern.rows.tolist() == [0, 0, 2, 2]
    assert pattern.shape == (3, 4)


def test_a_pattern_without_entries_has_empty_rows():
    nothing = torch.empty(0, dtype=torch.long)
    assert Pattern.of(nothing, nothing, 2, 2).indptr.tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", [2**16, 2**16 + 1, 200_000])
def test_large_numbers_of_rows_keep_their_order(size):
    """Rows of up to 16 bit are sorted by shorter keys, and the highest bit is no sign."""
    rows = torch.tensor([size - 1, 40_000, 1, 40_000, size - 1])
    cols = torch.tensor([0, size - 1, 3, 2, 0])
    pattern = Pattern.of(rows, cols, size, size)
    assert pattern.rows.tolist() == [1, 40_000, 40_000, size - 1]
    assert pattern.indices.tolist() == [3, 2, size - 1, 0]


def test_transposition_tells_where_each_entry_came_from(entries):
    pattern = Pattern.of(*entries, 3, 4)
    values = torch.tensor([1.0, 2.0, 3.0, 4.0])
    transposed, order = pattern.transposition
    assert torch.equal(
        transposed.filled(values[order]).to_dense(), pattern.filled(values).to_dense().t()
    )


def test_select_keeps_the_chosen_entries(entries):
    pattern = Pattern.of(*entries, 3, 4)
    kept = pattern.select(torch.tensor([False, True, True, False]))
    assert kept.indptr.tolist() == [0, 1, 1, 2]
    assert kept.indices.tolist() == [3, 0]


def test_with_diagonal_adds_one_entry_to_each_row():
    pattern = Pattern.of(torch.tensor([0, 2]), torch.tensor([2, 1]), 3, 3)
    dense = pattern.with_diagonal().filled(torch.ones(5)).to_dense()
    assert dense.tolist() == [[1, 0, 1], [0, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize("symmetric", [False, True])
def test_product_and_gradient_equal_the_dense_ones(symmetric):
    torch.manual_seed(0)
    dense = torch.rand(5, 5) * (torch.rand(5, 5) < 0.4)
    dense = dense + dense.t() if symmetric else dense
    rows, cols = dense.nonzero().t()
    matrix = Csr(Pattern.of(rows, cols, 5, 5), dense[rows, cols], symmetric=symmetric)
    x = torch.randn(5, 3, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    weight = torch.randn(5, 3)
    ((matrix @ x) * weight).sum().backward()
    ((dense @ y) * weight).sum().backward()
    assert torch.allclose(matrix @ x, dense @ y, atol=1e-6)
    assert torch.allclose(x.grad, y.grad, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [3, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 7, 8 * BLOCK])
@pytest.mark.parametrize("density", [0.02, 0.5])
def test_a_wide_product_has_the_bits_of_an_undivided_one(density, width, dtype, monkeypatch):
    torch.manual_seed(0)
    full = torch.rand(90, 70, dtype=dtype) * (torch.rand(90, 70) < density)
    rows, cols = full.nonzero().t()
    matrix = Csr(Pattern.of(rows, cols, 90, 70), full[rows, cols])
    x = torch.randn(70, width, dtype=dtype, requires_grad=True)
    weight = torch.randn(90, width, dtype=dtype)
    found = []
    for most in (BLOCK, width):
        monkeypatch.setattr("clar_tune.models.sparse.BLOCK", most)
        y = matrix @ x
        (gradient,) = torch.autograd.grad((y * weight).sum(), x)
        found.append((y.detach(), gradient))
    divided, whole = found
    assert torch.equal(divided[0], whole[0]) and torch.equal(divided[1], whole[1])
    assert torch.allclose(divided[0], full @ x, atol=1e-5)


@pytest.mark.parametrize(
    ("entries", "width", "blocks"),
    [(2500, 2 * BLOCK, 2), (2500, 70, 3), (2500, 63, 1), (1000, 70, 1)],
)
def test_only_wide_products_with_many_entries_are_divided(entries, width, blocks, monkeypatch):
    full = torch.zeros(10_000)
    full[torch.randperm(10_000)[:entries]] = 1.0
    matrix = full.view(100, 100).to_sparse_csr()
    calls, add = [], torch.addmm
    monkeypatch.setattr(torch, "addmm", lambda *args, **out: calls.append(1) or add(*args, **out))
    assert product(matrix, torch.ones(100, width)).sum() == entries * width
    assert len(calls) == blocks


def test_dropout_drops_stored_values_and_keeps_the_mean():
    torch.manual_seed(0)
    ones = torch.ones(20_000)
    numbers = torch.arange(20_000)
    matrix = Csr(Pattern.of(numbers, numbers, 20_000, 20_000), ones)
    dropped = matrix.dropout(0.5).values
    assert set(dropped.tolist()) == {0.0, 2.0}
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.03)
