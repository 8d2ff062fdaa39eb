"""A simulated run: manifest and rows as they would be stored, without what the clock decides."""

import json
from typing import Any

from support.results import simulated

from clar_tune.store.schema import plain

CLOCK = ("started", "ended", "seconds", "seq")
SIMULATED = ("key", "split_seed", "init_seed")
"""Columns that pretended workers make up."""


def stored_content() -> dict[str, Any]:
    """Every row by table."""
    row, memory = simulated(trials=4, repeats=3, finals=3, engine="torch")
    tables = {
        "runs": [row],
        "trials": list(memory.trials.values()),
        "repeats": memory.repeats,
        "finals": memory.finals,
    }
    return {name: [_kept(plain(name, row)) for row in rows] for name, rows in tables.items()}


def _kept(row: dict[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in row if name not in (*CLOCK, *SIMULATED)}
    loaded: dict[str, Any] = json.loads(json.dumps(kept))
    return loaded
