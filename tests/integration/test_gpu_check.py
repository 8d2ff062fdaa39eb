"""`clar-tune doctor --gpu` from end to end, on logical GPUs and processors."""

import json

import pytest
import torch
from support.commands import Place

from clar_tune.training import devices
from clar_tune.training.devices import MIB, measured_context

CHECKS = [
    *("device", "numbers", "repeatable", "memory comes back", "speed", "fault", "shares"),
]


def test_the_self_test_on_a_private_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ("--device", "cpu", "--gpus-per-trial", "0.5", "--quick", "--json")
    done = Place(tmp_path / "place").run("doctor", "--gpu", *words)
    found = json.loads(done.out)
    assert (done.code, found["ok"]) == (0, True), done.out + done.err
    (device,) = found["devices"]
    findings = {finding["check"]: finding for finding in device["findings"]}
    assert list(findings) == CHECKS
    assert device["number"] == "0"
    assert findings["numbers"]["values"]["cases"] == 14
    assert findings["shares"]["values"]["fractions"] == [0.375, 0.375]
    (loss,) = findings["fault"]["values"]["losses"]
    assert "BrokenProcess" in loss and "broken on purpose" in loss
    assert set(findings["speed"]["values"]["rates"]) == {"200", "1000"}
    (kept,) = tmp_path.glob("**/gpu-reports/*.json")
    assert json.loads(kept.read_text()) == device


@pytest.mark.parametrize("share", ["0.3", "1.5"])
def test_a_share_that_no_trial_can_have_is_refused(tmp_path, share):
    done = Place(tmp_path).run("doctor", "--gpu", "--device", "cpu", "--gpus-per-trial", share)
    assert done.code == 1
    assert f"--gpus-per-trial {share}: " in done.err


def test_a_context_is_what_a_process_takes_while_it_waits(monkeypatch):
    """The device is a stand-in, the other process is none."""
    free = iter([10_000 * MIB, 9_600 * MIB])
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (next(free), 16_000 * MIB))
    monkeypatch.setattr(torch, "zeros", lambda *given, **words: None)
    monkeypatch.setattr(devices, "CONTEXT_HOLDER", "print('ready', flush=True); input()")
    assert measured_context() == 400 * MIB
