"""Where results are kept: Parquet tables, written by one driver per run, read by anyone."""

from clar_tune.store.snapshot import Snapshot
from clar_tune.store.store import Store, StoredRun
from clar_tune.store.writer import RunWriter

__all__ = ["RunWriter", "Snapshot", "Store", "StoredRun"]
