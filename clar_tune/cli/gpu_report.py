"""``clar-tune doctor --gpu``: what was found of every device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from clar_tune.device_check import Report


def check_and_show(address: str, share: float, device: str, *, quick: bool, as_json: bool) -> bool:
    """Test every device, keep and print the reports; whether nothing was wrong."""
    from clar_tune.cluster import Resources, prepare

    Resources(1, share)  # a share that no trial can have is refused
    prepare(address)
    from clar_tune.cluster import check_gpus
    from clar_tune.device_check import FULL, QUICK, save
    from clar_tune.records import to_stored

    reports = check_gpus(address, share, device, QUICK if quick else FULL)
    files = [save(report) for report in reports]
    ok = all(report.ok for report in reports)
    if as_json:
        found = {"ok": ok, "devices": [to_stored(report) for report in reports]}
        click.echo(json.dumps(found, indent=2))
        return ok
    for report in reports:
        _print(report)
    for file in sorted(set(files)):
        click.echo(f"kept in {file}")
    return ok


def _print(report: Report) -> None:
    click.echo(f"device {report.number} of {report.node}")
    for finding in report.findings:
        click.echo(f"{'ok   ' if finding.ok else 'WRONG'}  {finding.check}: {finding.found}")
