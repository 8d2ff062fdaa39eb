"""Both scopes where the truth is known, in few draws; the benchmark has more."""

from functools import partial

import numpy as np
import pytest

from benchmarks.null_check import networks
from benchmarks.null_check.learners import (
    BLOCK_MODELS,
    CLASSES,
    FEATURES,
    RIDGE,
    SIGNAL,
    TEXAS,
    Splits,
    correctness,
    features_of,
)
from benchmarks.null_check.scopes import (
    effects_of,
    misses_of_splits,
    redrawn,
    sample_of_blocks,
    sample_of_nodes,
)
from clar_tune.analysis import estimate

DRAWS = 300
ERROR = np.sqrt(0.05 * 0.95 / DRAWS)


@pytest.fixture(scope="module")
def of_nodes():
    return redrawn(TEXAS, partial(sample_of_nodes, TEXAS), DRAWS, seed=1)


@pytest.fixture(scope="module")
def of_blocks():
    return redrawn(TEXAS, partial(sample_of_blocks, BLOCK_MODELS[0]), DRAWS, seed=1)


def test_new_splits_of_one_sample_are_missed_in_five_of_a_hundred_draws():
    for missed in misses_of_splits(TEXAS, DRAWS, seed=1).values():
        assert 0.05 - 3.5 * ERROR <= missed.mean() <= 0.05 + 3.5 * ERROR


@pytest.mark.parametrize("splits", [10, 20, 50])
def test_new_samples_are_missed_in_at_most_seven_of_a_hundred_draws(of_nodes, of_blocks, splits):
    for found, contrasts in (
        (of_nodes, ("same", "equal", "better")),
        (of_blocks, ("equal", "hops")),
    ):
        for contrast in contrasts:
            one = found[contrast, splits]
            truth = one.truth.value if contrast in ("better", "hops") else 0.0
            assert one.missed("nodes", truth).value <= 0.07 + 2 * ERROR


def test_nodes_that_only_count_as_tested_are_not_enough(of_nodes, of_blocks):
    for one in (of_nodes["equal", 50], of_blocks["equal", 50]):
        assert one.missed("only_tested", 0.0).value > one.missed("nodes", 0.0).value + 0.02
        assert one.missed("splits", 0.0).value > 0.25


@pytest.mark.parametrize("splits", [10, 20, 50])
def test_the_two_way_variance_is_that_of_the_mean_where_only_chance_differs(of_nodes, splits):
    """Adding both variances without what they share would double it."""
    effects = of_nodes["same", splits].effects
    true = np.mean([one.nodes.mean**2 for one in effects])
    assert np.mean([one.only_tested.error**2 for one in effects]) / true == pytest.approx(
        1, abs=0.3
    )


def test_scopes_have_their_order_of_power(of_nodes):
    found = of_nodes["better", 20]
    splits, nodes, corrected = (found.claimed(s).value for s in ("splits", "nodes", "corrected"))
    assert splits > nodes > corrected


def test_the_corrected_effect_is_that_of_compare():
    draw = np.random.default_rng(0)
    splits = Splits.drawn(TEXAS, 10, draw)
    values = draw.integers(-1, 2, size=splits.test.shape).astype(np.float32)
    found = effects_of(splits.test, values, TEXAS).corrected
    other = estimate(values.mean(axis=1, dtype=float), TEXAS.test / TEXAS.train)
    assert found.half_width() == pytest.approx(other.half_width, rel=1e-9)
    assert found.p_difference == pytest.approx(other.p, rel=1e-9)


def test_learners_are_ridge_classifiers_of_their_training_nodes():
    draw = np.random.default_rng(0)
    labels = draw.integers(CLASSES, size=TEXAS.nodes)
    x, splits = features_of(labels, SIGNAL, draw), Splits.drawn(TEXAS, 3, draw)
    right = correctness(x, labels, splits, 0, draw)
    for mask, tested, own in zip(splits.train > 0, splits.test, right, strict=True):
        assert mask.sum() == TEXAS.train and not mask[tested].any()
        y = np.eye(CLASSES)[labels[mask]] - 1 / CLASSES
        weights = np.linalg.solve(x[mask].T @ x[mask] + RIDGE * np.eye(FEATURES), x[mask].T @ y)
        np.testing.assert_array_equal((x[tested] @ weights).argmax(1) == labels[tested], own)


def test_block_models_have_their_degree_and_homophily():
    model = BLOCK_MODELS[2]
    draw = np.random.default_rng(0)
    labels = draw.integers(CLASSES, size=model.sizes.nodes)
    found = model.smoothing(labels, draw).tocoo()
    one, other = found.coords
    apart = one != other
    assert abs(found - found.T).max() < 1e-6
    # Doubles are merged, so that a few edges are lost.
    assert apart.sum() / len(labels) == pytest.approx(model.degree, rel=0.1)
    assert np.mean(labels[one] == labels[other], where=apart) == pytest.approx(0.8, abs=0.03)


def test_arms_of_networks_meet_the_same_splits_and_differ():
    sizes, tested, differences = networks.pool(2, seed=0)
    assert tested.shape == differences.shape == (2, sizes.test)
    assert set(np.unique(differences)) <= {-1.0, 0.0, 1.0}
    assert differences.any()
