"""What a GPU would be asked for, as far as a machine without one can tell."""

import os
from types import SimpleNamespace

import pytest
import torch

from clar_tune.errors import ParameterError
from clar_tune.training import devices
from clar_tune.training.devices import (
    CONTEXT,
    MIB,
    best_device,
    claim,
    limit_memory,
    memory_fraction,
)

GIB = 1024 * MIB


@pytest.fixture
def cuda(monkeypatch):
    """A stand-in for torch's CUDA with 16 GiB: what it is asked for is written down."""
    asked = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda device: SimpleNamespace(total_memory=16 * GIB),
    )
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda *given: asked.append(given)
    )
    return asked


def test_torch_decides_which_device_there_is(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")  # as a scheduler's logical GPU sets it
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert best_device() == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert best_device() == torch.device("cuda")


def test_a_share_of_a_gpu_is_a_share_of_its_memory(cuda):
    assert limit_memory(torch.device("cpu"), 0.25) == 1.0
    assert cuda == []
    fraction = limit_memory(torch.device("cuda"), 0.25)
    assert cuda == [(fraction, torch.device("cuda"))]
    assert fraction == 0.25 - CONTEXT / (16 * GIB)


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("context", [300 * MIB, 512 * MIB])
def test_all_workers_of_a_device_fit_on_it_with_their_contexts(workers, context):
    total = 24 * GIB
    fraction = memory_fraction(1 / workers, total, context)
    assert workers * (fraction * total + context) == pytest.approx(total)


def test_a_share_that_holds_little_more_than_its_context_is_refused():
    with pytest.raises(ParameterError, match=r"0\.125: of 4096 MiB .* gets 512, .* takes 512"):
        memory_fraction(0.125, 4 * GIB)
    assert memory_fraction(0.25, 4 * GIB) == 0.125


def test_a_claimed_gpu_is_limited_and_repeatable(cuda, monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    try:
        assert claim(0.5, context=GIB) == torch.device("cuda")
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled()
    finally:
        torch.use_deterministic_algorithms(False)
    assert os.environ.pop("CUBLAS_WORKSPACE_CONFIG") == devices.BLAS_WORKSPACE
    assert cuda == [(0.5 - 1 / 16, torch.device("cuda"))]
    assert not torch.utils.deterministic.fill_uninitialized_memory


def test_a_claimed_cpu_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    assert claim(0.25) == torch.device("cpu")
    assert not torch.are_deterministic_algorithms_enabled()
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
