"""Leases as other drivers leave them."""

import json
from dataclasses import replace

from clar_tune.store.files import Files
from clar_tune.store.lease import Lease, read_lease


def left_behind(files: Files, **changes) -> None:
    """A lease as some other driver wrote it."""
    mine = Lease(files, "first")
    path = f"{files.root}/runs/run=first/_lease.json"
    holder = replace(read_lease(files, "first"), **changes)
    with open(path, "w") as stream:
        json.dump({name: getattr(holder, name) for name in holder.__slots__}, stream)
    mine._end.set()
