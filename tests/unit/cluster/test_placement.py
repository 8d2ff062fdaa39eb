"""Runs on a cluster whose machines come and go; machines are processes, each in its own folder.

The head runs no trials, and the user's package travels to those that do.
"""

import pytest

from clar_tune.cluster.packaging import modules_of
from clar_tune.cluster.ray_internals import JOB
from clar_tune.models.method import Method


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder on Python's path with a package and a module."""
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "__init__.py").write_text("")
    (tmp_path / "some_module.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(JOB, raising=False)
    return tmp_path


METHODS = [
    Method("gcn", "clar"),
    Method("some_package.deep.down:Model", "some_module:Penalty"),
    Method("some_package.other:Model"),
    Method("torch_geometric.nn.models:GCN"),
    Method("json:Class"),
    Method("no_such_module:Model"),
]


def test_exactly_the_users_packages_and_modules_travel(own):
    assert modules_of(METHODS) == [own / "some_package", own / "some_module.py"]


@pytest.mark.parametrize("key", ["working_dir", "py_modules"])
def test_nothing_travels_with_a_job_that_brought_it_along(own, monkeypatch, key):
    monkeypatch.setenv(JOB, f'{{"runtime_env": {{"{key}": "gcs://a.zip"}}}}')
    assert modules_of(METHODS) == []
    monkeypatch.setenv(JOB, '{"metadata": {}}')
    assert modules_of(METHODS) != []
