"""Each kernel against its formula in numpy, scipy or torch."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn import functional as F

from clar_tune.engine.arrays import Csr, csr_of
from clar_tune.engine.compiling import called
from clar_tune.engine.dense import (
    BLOCK,
    ELU,
    RELU,
    activate,
    activate_back,
    add_column_sums,
    add_dense_transposed,
    dense_product,
    transpose,
)
from clar_tune.engine.objective import cross_entropy, squared_error
from clar_tune.engine.optimiser import adam
from clar_tune.engine.randomness import fill_words, key_of
from clar_tune.engine.sparse import add_transposed, drop_entries, multiply

WIDTHS = [8, 16, 24, 32, 40, 56, 72, 136, 224]
NOTHING = np.zeros(0, np.float32)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def sparse(rng, rows=33, columns=21):
    return sp.csr_array(sp.random_array((rows, columns), density=0.3, rng=rng, dtype=np.float32))


def key(purpose=1):
    return np.uint64(called(key_of)(np.uint64(4), purpose, 9))


@pytest.mark.parametrize("width", WIDTHS)
def test_sparse_product_with_a_bias(rng, width):
    matrix, x, bias = sparse(rng), floats(rng, 21, width), floats(rng, width)
    y = np.full(33 * width, np.nan, np.float32)
    every = np.arange(33, dtype=np.uint32)
    called(multiply)(csr_of(matrix), every, x.ravel(), width, bias, width, y, width)
    np.testing.assert_allclose(y.reshape(33, width), matrix @ x + bias, atol=1e-5)


def test_rows_that_are_not_asked_for_stay(rng):
    matrix, x, y = sparse(rng), floats(rng, 21, 8), np.full(33 * 8, 7, np.float32)
    rows = np.array([2, 30], np.uint32)
    called(multiply)(csr_of(matrix), rows, x.ravel(), 8, np.zeros(8, np.float32), 8, y, 8)
    expected = np.full((33, 8), 7, np.float32)
    expected[rows] = (matrix @ x)[rows]
    np.testing.assert_allclose(y.reshape(33, 8), expected, atol=1e-5)


def test_parts_of_wider_rows_are_multiplied(rng):
    matrix, x, y = sparse(rng), floats(rng, 21, 24), np.zeros((33, 40), np.float32)
    every, nothing = np.arange(33, dtype=np.uint32), np.zeros(16, np.float32)
    flat = y.ravel()
    called(multiply)(csr_of(matrix), every, x.ravel()[8:], 24, nothing, 16, flat[24:], 40)
    np.testing.assert_allclose(y[:, 24:], matrix @ x[:, 8:], atol=1e-5)
    assert not y[:, :24].any()


@pytest.mark.parametrize("width", WIDTHS)
def test_transposed_sparse_product_is_added(rng, width):
    matrix, d, gradient = sparse(rng), floats(rng, 33, width), floats(rng, 21, width)
    expected = gradient + matrix.T @ d
    called(add_transposed)(csr_of(matrix), d.ravel(), width, gradient.ravel())
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropped_entries_are_not_stored(rng, rate):
    matrix = sparse(rng, 400, 50)
    entries = matrix.nnz
    words = np.empty(entries // 2 + 1, np.uint32)
    kept = Csr(
        np.zeros(401, np.uint32), np.zeros(entries + 1, np.uint32), floats(rng, entries + 1)
    )
    called(drop_entries)(csr_of(matrix), rate, key(), words, kept)
    bits = np.empty(len(words), np.uint32)
    called(fill_words)(key(), 0, len(words), bits)
    limit = round(rate * 65536)
    mask = bits.view(np.uint16)[:entries] >= limit
    expected = matrix.copy()
    expected.data = matrix.data * mask * np.float32(65536 / (65536 - limit))
    left = int(kept.starts[-1])
    assert left == mask.sum() < entries
    made = sp.csr_array(
        (kept.values[:left], kept.columns[:left], kept.starts.astype(np.int64)), matrix.shape
    )
    np.testing.assert_allclose(made.toarray(), expected.toarray(), rtol=1e-6)


@pytest.mark.parametrize("inner", [8, 32])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rows", [1, 4, 7])
def test_dense_products(rng, inner, width, rows):
    x, w, d = floats(rng, rows, inner), floats(rng, inner, width), floats(rng, rows, width)
    y, gradient = np.empty(rows * width, np.float32), floats(rng, inner, width)
    called(dense_product)(x.ravel(), w.ravel(), rows, inner, width, y)
    np.testing.assert_allclose(y.reshape(rows, width), x @ w, atol=1e-5)
    expected = gradient + x.T @ d
    called(add_dense_transposed)(x.ravel(), d.ravel(), rows, inner, width, gradient.ravel())
    np.testing.assert_allclose(gradient, expected, atol=1e-5)
    turned, sums = np.empty(inner * width, np.float32), np.ones(width, np.float32)
    called(transpose)(w.ravel(), inner, width, turned)
    assert np.array_equal(turned.reshape(width, inner), w.T)
    called(add_column_sums)(d.ravel(), rows, width, sums)
    np.testing.assert_allclose(sums, 1 + d.sum(axis=0), atol=1e-5)


@pytest.mark.parametrize("kind", [RELU, ELU])
@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_activation_with_dropout_and_its_gradient(rng, kind, rate):
    x, g = floats(rng, 3 * BLOCK + 8), floats(rng, 3 * BLOCK + 8)
    x[:5] = 0
    words = np.empty(BLOCK // 2, np.uint32)
    h, d = x.copy(), g.copy()
    called(activate)(h, kind, rate, key(), words)
    called(activate_back)(d, h, kind, rate, key(), words)
    bits = np.empty(len(x) // 2, np.uint32)
    called(fill_words)(key(), 0, len(bits), bits)
    mask = torch.tensor((bits.view(np.uint16) >= 65536 * rate) / (1 - rate))
    inputs = torch.tensor(x, requires_grad=True)
    output = (F.relu if kind == RELU else F.elu)(inputs) * mask
    output.backward(torch.tensor(g))
    np.testing.assert_allclose(h, output.detach(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(d, inputs.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [RELU, ELU])
def test_what_is_not_finite_passes_activations(value, kind):
    h = np.full(16, value, np.float32)
    called(activate)(h, kind, 0.0, key(), np.empty(BLOCK // 2, np.uint32))
    assert not np.isfinite(h).any()


@pytest.mark.parametrize("classes", [1, 2, 7, 8, 9, 70])
@pytest.mark.parametrize("size", [1.0, 50.0])
def test_cross_entropy_gradient_and_accuracy(rng, classes, size):
    width = -(-classes // 8) * 8
    logits = np.full((90, width), 3.0, np.float32)
    logits[:, :classes] = size * floats(rng, 90, classes)
    labels, rows = rng.integers(0, classes, 90), np.arange(3, 88, dtype=np.uint32)
    gradient = np.zeros((90, width), np.float32)
    loss, accuracy = called(cross_entropy)(
        logits.ravel(), rows, labels, classes, width, gradient.ravel()
    )
    inputs = torch.tensor(logits[rows, :classes], requires_grad=True)
    expected = F.cross_entropy(inputs, torch.tensor(labels[rows]))
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5, abs=1e-7)
    assert accuracy == (logits[rows, :classes].argmax(axis=1) == labels[rows]).mean()
    np.testing.assert_allclose(gradient[rows, :classes], inputs.grad, atol=1e-7)
    assert not gradient[:, classes:].any()
    assert not np.delete(gradient, rows, axis=0).any()


def test_of_equal_logits_the_first_counts():
    logits, rows = np.zeros(3 * 8, np.float32), np.arange(3, dtype=np.uint32)
    labels = np.array([0, 1, 0])
    assert called(cross_entropy)(logits, rows, labels, 4, 8, NOTHING)[1] == 2 / 3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_losses_of_what_is_not_finite_are_not_finite(value):
    logits, rows = np.zeros(8 * 40, np.float32), np.arange(40, dtype=np.uint32)
    logits[8 * 17] = value
    labels = np.zeros(40, np.int64)
    assert not np.isfinite(called(cross_entropy)(logits, rows, labels, 3, 8, NOTHING)[0])
    targets = np.zeros(8 * 40, np.float32)
    assert not np.isfinite(called(squared_error)(logits, rows, targets, 3, 8, NOTHING))


def test_squared_error(rng):
    z, y, gradient = floats(rng, 20, 8), floats(rng, 20, 8), np.zeros((20, 8), np.float32)
    rows = np.arange(2, 15, dtype=np.uint32)
    loss = called(squared_error)(z.ravel(), rows, y.ravel(), 3, 8, gradient.ravel())
    inputs = torch.tensor(z[rows, :3], requires_grad=True)
    expected = F.mse_loss(inputs, torch.tensor(y[rows, :3]))
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    np.testing.assert_allclose(gradient[rows, :3], inputs.grad, rtol=1e-5)


def test_adam_steps_as_torch_does(rng):
    start = floats(rng, 100)
    weights, mean, square = start.copy(), np.zeros(100, np.float32), np.zeros(100, np.float32)
    decayed, free = (torch.tensor(part, requires_grad=True) for part in (start[:90], start[90:]))
    groups = [{"params": [decayed], "weight_decay": 0.01}, {"params": [free]}]
    reference = torch.optim.Adam(groups, lr=0.05, fused=True)
    step = called(adam)
    for number in range(1, 31):
        gradient = floats(rng, 100)
        decayed.grad, free.grad = torch.tensor(gradient[:90]), torch.tensor(gradient[90:])
        reference.step()
        step(weights, gradient, mean, square, 0.05, 0.01, 90, number)
        assert not gradient.any()
    expected = torch.cat([decayed, free]).detach()
    np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=1e-6)
