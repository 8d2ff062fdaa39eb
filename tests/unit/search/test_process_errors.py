"""Which errors tell of a process, and which of a training."""

import errno
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn

from clar_tune.errors import CannotImport, Diverged, WrongShape
from clar_tune.models import Method, TensorGraph
from clar_tune.search.jobs import Failure, Job, perform
from clar_tune.search.process_errors import BrokenProcess, breaks_process

OF_THE_PROCESS = [
    torch.AcceleratorError("CUDA error: an illegal memory access was encountered"),
    torch.AcceleratorError("CUDA error: device-side assert triggered"),
    RuntimeError("CUDA error: unspecified launch failure"),
    RuntimeError("CUDA driver error: context is destroyed"),
    RuntimeError("CUDA unknown error - this may be due to an incorrectly set up environment"),
    RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasSgemm"),
    RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR"),
    RuntimeError("No CUDA GPUs are available"),
    RuntimeError("can't start new thread"),
    ModuleNotFoundError("No module named 'torch_sparse'"),
    ImportError("libcudart.so.12: cannot open shared object file"),
    CannotImport("own:Model: cannot be imported"),
    FileNotFoundError(errno.ENOENT, "a folder of ours is gone"),
    *(OSError(code, os.strerror(code)) for code in (errno.ENOMEM, errno.EMFILE, errno.EIO)),
]

OF_THE_TRAINING = [
    Diverged("training loss became nan"),
    WrongShape("logits of another shape"),
    MemoryError(),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    torch.AcceleratorError("CUDA error: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes"),
    RuntimeError("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if …"),
    RuntimeError("Expected all tensors to be on the same device, but found cuda:0 and cpu!"),
    RuntimeError("mat1 and mat2 shapes cannot be multiplied (8x5 and 4x2)"),
    KeyError("no such weight"),
]


def named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("error", OF_THE_PROCESS, ids=named)
def test_errors_of_devices_imports_and_the_operating_system_are_the_processs(error):
    assert breaks_process(error)


@pytest.mark.parametrize("error", OF_THE_TRAINING, ids=named)
def test_all_else_is_the_trainings(error):
    assert not breaks_process(error)


def reads_a_file() -> None:
    json.loads(Path("/no/such/file").read_text())


def imports_what_is_not_there() -> None:
    import no_such_module  # noqa: F401


def finds_no_room() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def hides_an_error_of_the_device() -> None:
    try:
        raise torch.AcceleratorError("CUDA error: device-side assert triggered")
    except RuntimeError as error:
        raise ValueError("my layer does not work") from error


def hides_that_memory_is_short() -> None:
    try:
        raise torch.AcceleratorError("CUDA error: out of memory")
    except RuntimeError:
        raise ValueError("my layer does not work") from None


def is_wrong_in_torch() -> None:
    nn.Linear(3, 2)(torch.zeros(4, 5))


def is_wrong_in_the_standard_library() -> None:
    json.loads("no JSON")


class Model(nn.Module):
    """A user's model that does what a test says."""

    does = staticmethod(reads_a_file)

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        type(self).does()
        return self.layer(x)


@pytest.fixture
def done(tiny_graph, monkeypatch):
    """Performs a job with a model that does something."""
    module = ModuleType("their_model")
    module.Model = Model
    monkeypatch.setitem(sys.modules, "their_model", module)
    protocol = "random-60-20-20"
    spec = Method("their_model:Model").spec(tiny_graph, {}, protocol, (0, 0), max_epochs=2)
    words = {"study": 0, "trial": 0, "purpose": "repeat", "first": 0, "variant": {}, "seed": 0}
    job = Job(**words, specs=(spec,), timeout=60)

    def perform_with(does):
        monkeypatch.setattr(Model, "does", staticmethod(does))
        return perform(job, 0, tiny_graph, TensorGraph.of(tiny_graph))

    return perform_with


@pytest.mark.parametrize("does", [finds_no_room, hides_an_error_of_the_device])
def test_a_process_that_went_bad_gives_no_result(done, does):
    with pytest.raises(BrokenProcess) as broken:
        done(does)
    assert "\n" not in str(broken.value)
    line = does.__code__.co_firstlineno
    assert f" at test_process_errors.py:{line + (1 if does is finds_no_room else 4)}: " in str(
        broken.value
    )


def test_an_error_of_many_lines_is_told_in_one(done):
    def told_at_length() -> None:
        raise torch.AcceleratorError("CUDA error: launch failure\nFor debugging\n\nconsider …")

    with pytest.raises(BrokenProcess, match="CUDA error: launch failure For debugging consider …"):
        done(told_at_length)


@pytest.mark.parametrize(
    ("does", "text"),
    [
        (reads_a_file, "FileNotFoundError"),
        (imports_what_is_not_there, "ModuleNotFoundError"),
        (is_wrong_in_torch, "RuntimeError"),
        (is_wrong_in_the_standard_library, "JSONDecodeError"),
    ],
)
def test_what_a_users_model_raises_is_a_result_with_the_users_own_line(done, does, text):
    failure = done(does)
    assert isinstance(failure, Failure) and failure.kind == "error"
    line = does.__code__.co_firstlineno + 1
    assert failure.text.startswith(f"{text} at test_process_errors.py:{line}: ")


def test_short_memory_that_a_model_reports_in_its_own_words_is_a_result(done):
    failure = done(hides_that_memory_is_short)
    assert isinstance(failure, Failure) and failure.text.endswith("my layer does not work")


def test_a_device_without_memory_is_a_hint_for_the_sampler(done):
    def out_of_memory() -> None:
        raise torch.AcceleratorError("CUDA error: out of memory")

    failure = done(out_of_memory)
    assert (failure.kind, failure.hints) == ("memory", True)


def test_a_model_that_cannot_be_imported_here_breaks_the_process(done, monkeypatch):
    """The driver has imported it before it made the job."""
    monkeypatch.delitem(sys.modules, "their_model")
    with pytest.raises(BrokenProcess, match="their_model:Model: cannot be imported"):
        done(lambda: None)


def test_where_no_line_is_the_users_the_last_one_is_told(done, monkeypatch):
    monkeypatch.setitem(Model.forward.__globals__, "__name__", "torch.nn.own")
    failure = done(is_wrong_in_torch)
    assert " at linear.py:" in failure.text
