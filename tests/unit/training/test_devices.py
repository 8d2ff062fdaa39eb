"""What a GPU would be asked for, as far as a machine without one can tell."""

import torch

from clar_tune.training.devices import best_device, limit_memory


def test_torch_decides_which_device_there_is(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")  # as a scheduler's logical GPU sets it
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert best_device() == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert best_device() == torch.device("cuda")


def test_a_share_of_a_gpu_is_a_share_of_its_memory(monkeypatch):
    asked = []
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda *given: asked.append(given)
    )
    limit_memory(torch.device("cpu"), 0.25)
    assert asked == []
    limit_memory(torch.device("cuda"), 0.25)
    assert asked == [(0.25, torch.device("cuda"))]
