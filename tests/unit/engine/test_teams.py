"""What threads share is equal to the last bit to what one of them does alone."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from support.engines import generated, halves, spec_of

from clar_tune.engine import ArrayGraph, scope, train
from clar_tune.engine.arrays import Csr, csr_of
from clar_tune.engine.compiling import called
from clar_tune.engine.dense import BLOCK, ELU, RELU
from clar_tune.engine.sparse import drop_entries
from clar_tune.engine.teams import (
    Alone,
    Team,
    activate_back_shared,
    activate_shared,
    add_dense_transposed_shared,
    add_transposed_shared,
    dense_product_shared,
    drop_entries_shared,
    multiply_shared,
    turn,
)

ROWS, INNER = 1003, 24
TEAMS = [Alone(1), Team(1), Team(2), Team(3), Team(5)]
"""Also one that divides no size, and more parts than there are processors."""
KEY = np.uint64(0x123456789ABCDEF)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32).ravel()


def matrix_of(rng, rows=ROWS, columns=INNER):
    return csr_of(sp.random_array((rows, columns), density=0.3, rng=rng, format="csr"))


def assert_shared(function, arguments, *outputs):
    """Teams of any size leave in the outputs what one thread does."""
    starts, expected = [one.copy() for one in outputs], []
    for team in TEAMS:
        for output, start in zip(outputs, starts, strict=True):
            output[:] = start
        called(function)(team, *arguments)
        found = [output.copy() for output in outputs]
        expected = expected or found
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other), team
    assert not np.array_equal(expected[0], starts[0])


@pytest.mark.parametrize("width", [8, 40, 64])
def test_products_with_sparse_matrices(rng, width):
    matrix, x = matrix_of(rng), floats(rng, INNER, width)
    rows = np.arange(0, ROWS, 2, dtype=np.uint32)
    y, bias = np.zeros(ROWS * width, np.float32), floats(rng, width)
    assert_shared(multiply_shared, (matrix, rows, x, width, bias, width, y, width), y)
    gradient = floats(rng, INNER, width)
    d = floats(rng, ROWS, width)
    assert_shared(add_transposed_shared, (matrix, d, width, gradient), gradient)


@pytest.mark.parametrize("width", [8, 40])
def test_products_of_dense_matrices(rng, width):
    x, w, d = floats(rng, ROWS, INNER), floats(rng, INNER, width), floats(rng, ROWS, width)
    y, gradient = np.zeros(ROWS * width, np.float32), floats(rng, INNER, width)
    assert_shared(dense_product_shared, (x, w, ROWS, INNER, width, y), y)
    arguments = (x, d, ROWS, INNER, width, gradient)
    assert_shared(add_dense_transposed_shared, arguments, gradient)


@pytest.mark.parametrize("rows", [ROWS, 3, 0])
def test_dropped_entries(rng, rows):
    matrix = matrix_of(rng, rows)
    size = len(matrix.columns)
    kept = [
        Csr(
            np.zeros(rows + 1, np.uint32),
            np.zeros(size + 1, np.uint32),
            np.zeros(size + 1, np.float32),
        )
        for _ in range(2)
    ]
    words = np.zeros(size // 2 + 2, np.uint32)
    called(drop_entries)(matrix, 0.6, KEY, words, kept[0])
    left = int(kept[0].starts[rows])
    assert left < size or not size
    for team in TEAMS:
        called(drop_entries_shared)(team, matrix, 0.6, KEY, words, kept[1])
        assert np.array_equal(kept[1].starts, kept[0].starts)
        for one, other in zip(kept[1][1:], kept[0][1:], strict=True):
            assert np.array_equal(one[:left], other[:left])


@pytest.mark.parametrize("kind", [RELU, ELU])
def test_activations_with_dropout(rng, kind):
    size, words = 3 * BLOCK + 800, np.zeros(5 * BLOCK // 2, np.uint32)
    h, g = floats(rng, size), floats(rng, size)
    assert_shared(activate_shared, (h, kind, 0.4, KEY, words), h)
    assert_shared(activate_back_shared, (g, h, kind, 0.4, KEY, words), g)


def test_trainings_that_share_kernels_take_turns_and_equal_those_alone(monkeypatch):
    graph = generated(200)
    arrays, nodes = ArrayGraph.of(graph), halves(graph)
    one = spec_of(graph, "gcn", {"max_epochs": 40}, dropout=0.5)
    alone, shared = train(one, arrays, nodes), []
    monkeypatch.setattr(scope, "LARGE", 1)
    spec = replace(one, threads=2)
    threads = [
        threading.Thread(target=lambda: shared.append(train(spec, arrays, nodes)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shared) == 2
    for fit in shared:
        record = replace(fit.record, key=alone.record.key, seconds=alone.record.seconds)
        assert record == alone.record and np.array_equal(fit.logits, alone.logits)


def test_a_team_waits_for_another_and_one_thread_for_nobody():
    done = threading.Event()

    def take_turn():
        with turn(Team(2)):
            done.set()

    with turn(Team(2)):
        thread = threading.Thread(target=take_turn)
        thread.start()
        with turn(Alone(1)):
            assert not done.is_set()
    thread.join()
    assert done.is_set()


@pytest.mark.parametrize(
    ("backbone", "threads", "entries", "size"),
    [("gcn", 1, 10**9, 1), ("gcn", 2, 10, 1), ("gcn", 2, 10**9, 2), ("gat", 2, 10**9, 1)],
)
def test_threads_make_a_team_on_large_graphs_alone(backbone, threads, entries, size):
    assert scope.team_size(backbone, threads, entries) == size
