"""What a driver leaves behind when it ends."""

import errno
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.simulation import next_job, plan_from

from clar_tune.cluster import driver
from clar_tune.cluster.driver import Launch
from clar_tune.search.manifest import manifest_of
from clar_tune.store import Store


class Unseen:
    """A view that shows nothing."""

    def __call__(self, scheduler):
        pass

    def close(self, scheduler):
        pass

    def say(self, text):
        pass

    def note(self, text):
        pass


@pytest.fixture
def paused(tmp_path, monkeypatch):
    """Drives a run whose time is over, on a cluster whose workers write until it goes down."""
    from clar_tune.cluster.connection import Node

    folders = []

    @contextmanager
    def cluster(address):
        yield [Node(1, 0)]
        (folders[0] / "late").mkdir()
        (folders[0] / "late" / "params.json").write_text("{}")

    def search(scheduler, writer, graphs, capacity, scratch, view, watch):
        folders.append(Path(scratch))
        assert next_job(scheduler, "ticket") is None

    monkeypatch.setattr(driver, "_cluster", cluster)
    monkeypatch.setattr(driver, "_search", search)
    plan, store = plan_from(), Store.open(tmp_path / "store")

    def drive():
        row = manifest_of(plan, {})
        launch = Launch(time_budget=0.0)
        ended = driver.drive(
            store, lambda: store.create("it", row), plan, {}, launch, Unseen(), launch.limits()
        )
        return ended, store.find("it").row, folders[0]

    return drive


def test_a_budget_that_is_over_before_anything_starts_pauses(paused):
    ended, row, _ = paused()
    assert (ended.state, row.state) == ("paused", "paused")


def test_files_that_workers_write_to_the_end_go_with_the_cluster(paused):
    _, _, scratch = paused()
    assert not scratch.exists()


def test_files_that_cannot_be_removed_are_no_error_of_the_run(paused, monkeypatch):
    def refuse(path, **given):
        raise OSError(errno.ENOTEMPTY, "Directory not empty", path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rmdir", refuse)
        ended, row, scratch = paused()
    assert (ended.state, row.state) == ("paused", "paused")
    shutil.rmtree(scratch)
