"""What was found of a device, and the file that keeps it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clar_tune.device_check.facts import DeviceFacts
from clar_tune.graphs import cache_folder
from clar_tune.records import from_stored, stored_as, to_stored


@stored_as("check", "ok", "found", "values")
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check of a device, or of a machine's devices together."""

    check: str
    ok: bool
    found: str
    """One line for people."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The same for programs."""


@stored_as("node", "number", "facts", "findings")
@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that was found of one device of one machine."""

    node: str
    number: str
    """Which of its devices, as Ray counts them."""
    facts: DeviceFacts
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was wrong."""
        return all(finding.ok for finding in self.findings)


def save(report: Report) -> Path:
    """Keep a report where :func:`reported` finds it."""
    file = _file(report.facts)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(to_stored(report), indent=2) + "\n")
    return file


def reported(facts: DeviceFacts) -> Report | None:
    """The report of a device of this name, driver, torch and clar-tune, if there is one."""
    try:
        content = json.loads(_file(facts).read_text())
        return Report(
            node=content["node"],
            number=content["number"],
            facts=from_stored(DeviceFacts, content["facts"]),
            findings=tuple(from_stored(Finding, each) for each in content["findings"]),
        )
    except (OSError, ValueError, KeyError, TypeError):  # none, or of another version
        return None


def _file(facts: DeviceFacts) -> Path:
    key = hashlib.sha256(json.dumps(facts.identity).encode()).hexdigest()[:16]
    return cache_folder().parent / "gpu-reports" / f"{key}.json"
