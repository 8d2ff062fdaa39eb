"""Whole runs removed or renamed, each under its lease: no driver writes into them meanwhile.

The manifest comes last. A process that ends on the way leaves a run that is still listed, and the
same command finishes what it began.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clar_tune.errors import StoreError
from clar_tune.rows import TABLES
from clar_tune.store.files import Files
from clar_tune.store.journal import wal_path
from clar_tune.store.lease import Lease


@contextmanager
def held(lease: Lease) -> Iterator[None]:
    """Keep a lease alive, and let it go at the end."""
    last = lease.previous.seq if lease.previous else -1
    lease.keep(lambda: last)
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            lease.release(clean=False)
        raise
    lease.release(clean=True)


def remove_files(files: Files, run: str, lease: Lease) -> None:
    """Remove every row of a run, those that are in no Parquet file yet as well."""
    lease.fence.folder.remove(wal_path(files, run))
    for path in _data_of(files, run):
        lease.check()
        files.delete(path)


def move_files(files: Files, run: str, name: str, lease: Lease) -> None:
    """Give all Parquet files of a run another name for it."""
    for path in _data_of(files, run):
        lease.check()
        files.move(path, path.replace(f"/run={run}/", f"/run={name}/", 1))


def remove_folders(files: Files, run: str) -> None:
    """Remove what is left of a run in a directory: empty folders."""
    for table in TABLES if files.local else ():
        with suppress(OSError):
            Path(files.full(f"{table}/run={run}")).rmdir()


def _data_of(files: Files, run: str) -> Iterator[str]:
    """All files of a run but those of its driver, the manifest last."""
    for table in reversed(TABLES):
        yield from (path for path in files.under(f"{table}/run={run}") if "/_" not in path)
