import pytest
import torch

from clar_tune.models import BACKBONES, Adjacency, Csr
from clar_tune.models.dropout import dropped, scale_of, threshold
from clar_tune.models.sparse import Pattern

MANY = 1_000_003


@pytest.mark.parametrize("rate", [0.0, 1e-6, 0.1, 1 / 3, 0.5, 0.9, 0.99999, 1 - 1e-9])
def test_the_scale_makes_up_for_what_is_dropped(rate):
    assert threshold(rate) / 65536 == pytest.approx(rate, abs=1 / 65536)
    assert (1 - threshold(rate) / 65536) * scale_of(rate) == 1.0


@pytest.mark.parametrize("rate", [0.1, 1 / 3, 0.5, 0.95])
def test_elements_are_dropped_at_the_rate_and_the_mean_stays(rate):
    torch.manual_seed(0)
    kept = dropped(torch.ones(MANY), rate)
    assert kept.unique().tolist() == [0.0, pytest.approx(scale_of(rate))]
    deviation = (rate * (1 - rate)) ** 0.5
    for place in range(4):  # within a word
        share = (kept[place::4] == 0).double().mean().item()
        assert share == pytest.approx(rate, abs=5 * deviation / (MANY / 4) ** 0.5)


def test_neighbouring_elements_are_dropped_independently():
    torch.manual_seed(0)
    kept = dropped(torch.ones(MANY), 0.5) - 1  # -1 or 1
    for lag in (1, 2, 3, 4, 8):
        assert abs((kept[lag:] * kept[:-lag]).mean().item()) < 5 / MANY**0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_the_gradient_has_the_mask_and_the_scale_of_the_values(rate, dtype):
    torch.manual_seed(0)
    x = torch.rand(40, 30, dtype=dtype) + 1
    x.requires_grad_()
    weight = torch.randn(40, 30, dtype=dtype)
    y = dropped(x, rate)
    (y * weight).sum().backward()
    factor = torch.where(y == 0, 0.0, scale_of(rate))
    assert torch.allclose(y, x * factor)
    assert torch.allclose(x.grad, weight * factor)
    assert y.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 9])
def test_any_number_of_elements_is_dropped(size):
    torch.manual_seed(0)
    drawn = torch.stack([dropped(torch.ones(size), 0.5) for _ in range(200)])
    assert drawn.shape == (200, size)
    assert bool(((drawn.mean(0) - 1).abs() < 0.36).all())  # five deviations


def test_a_view_is_dropped_as_its_copy():
    x = torch.randn(7, 6).t()
    torch.manual_seed(0)
    first = dropped(x, 0.5)
    torch.manual_seed(0)
    assert torch.equal(first, dropped(x.contiguous(), 0.5))


def test_bits_come_from_the_global_generator_whatever_the_threads():
    found = []
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        torch.manual_seed(3)
        found.append(dropped(torch.ones(200_000), 0.3))
    torch.set_num_threads(before)
    assert torch.equal(*found)
    assert not torch.equal(found[1], dropped(torch.ones(200_000), 0.3))


def test_elsewhere_than_on_a_cpu_dropout_is_that_of_torch(monkeypatch):
    asked = []
    monkeypatch.setattr(
        torch.nn.functional, "dropout", lambda x, rate: asked.append((x.shape, rate)) or x
    )
    dropped(torch.empty(3, device="meta"), 0.5)
    dropped(torch.ones(3), 0.5)
    assert asked == [((3,), 0.5)]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_evaluation_draws_nothing_and_training_draws(backbone, sparse):
    x = (torch.rand(8, 5) < 0.5).float()
    rows, cols = x.nonzero().t()
    features = Csr(Pattern.of(rows, cols, 8, 5), x[rows, cols]) if sparse else x
    graph = Adjacency.of(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), 8)
    model = BACKBONES[backbone](5, 3, hidden=4, dropout=0.5)
    before = torch.get_rng_state()
    first, second = (model.eval()(features, graph) for _ in range(2))
    assert torch.equal(first, second) and torch.equal(before, torch.get_rng_state())
    first, second = (model.train()(features, graph) for _ in range(2))
    assert not torch.equal(first, second) and not torch.equal(before, torch.get_rng_state())
