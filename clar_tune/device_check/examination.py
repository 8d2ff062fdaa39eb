"""Everything that one process finds out about its device."""

from collections.abc import Collection
from dataclasses import dataclass

import torch

from clar_tune.device_check.cases import all_cases, cases_of, few_cases
from clar_tune.device_check.facts import DeviceFacts, device_facts
from clar_tune.device_check.findings import Finding
from clar_tune.device_check.leaks import TRIALS, check_leaks
from clar_tune.device_check.numbers import EPOCHS, check_numbers
from clar_tune.device_check.repeatable import check_repeatable
from clar_tune.device_check.speed import SIZES, check_speed
from clar_tune.graphs import threads
from clar_tune.training import use_deterministic_algorithms


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is tried."""

    every_form: bool = True
    epochs: int = EPOCHS
    trials: int = TRIALS
    sizes: tuple[int, ...] = SIZES
    seconds: float = 2.0


FULL = Effort()
QUICK = Effort(every_form=False, epochs=5, trials=4, sizes=(200, 1_000), seconds=0.1)


def examine_device(device: str, effort: Effort = FULL) -> tuple[DeviceFacts, list[Finding]]:
    """Checks (a), (b), (c), (e) and (g) on a device that nobody else uses."""
    place = _claimed(device)
    with threads(1):
        facts = device_facts(place, measure=True)
        cases = all_cases() if effort.every_form else few_cases()
        findings = [
            _of(facts),
            check_numbers(cases, place, effort.epochs),
            check_repeatable(few_cases(), place, effort.epochs // 2),
            check_leaks(place, effort.trials),
            check_speed(place, effort.sizes, effort.seconds),
        ]
    return facts, findings


def examine_methods(device: str, methods: Collection[str]) -> tuple[DeviceFacts, list[Finding]]:
    """Checks (a) and (b) for some methods, before a run of theirs."""
    place = _claimed(device)
    with threads(1):
        facts = device_facts(place)
        return facts, [_of(facts), check_numbers(cases_of(methods), place)]


def _claimed(device: str) -> torch.device:
    place = torch.device(device)
    use_deterministic_algorithms(place)
    return place


def _of(facts: DeviceFacts) -> Finding:
    return Finding(check="device", ok=True, found=str(facts))
