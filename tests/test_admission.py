"""Who is let into a cluster, and what those hear who are not."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from ray_nodes import free_port, ray_cluster

from clar_tune.errors import ClusterError
from clar_tune.search import admission

TOKEN = "a-token-of-tests"

JOIN = """\
import sys, warnings
warnings.simplefilter("ignore")
from clar_tune.errors import ClarTuneError
from clar_tune.search.environment import prepare

prepare(sys.argv[1])
from clar_tune.search.cluster import connected

try:
    with connected(sys.argv[1]) as nodes:
        print("joined", len(nodes))
except ClarTuneError as error:
    print(error)
"""


def joined(address, **environment):
    """What a driver hears, and how long that took."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", JOIN, address],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert TOKEN not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), time.monotonic() - began


@pytest.mark.slow
def test_only_those_with_the_clusters_token_are_let_in(tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("another-token")
    with ray_cluster(tmp_path / "cluster", TOKEN) as cluster:
        cluster.start_head("--num-cpus=0")
        own = cluster.environment
        known, _ = joined(cluster.address, **own)
        by_default, _ = joined(
            cluster.address, RAY_AUTH_TOKEN_PATH=own["RAY_AUTH_TOKEN_PATH"], HOME=str(tmp_path)
        )
        refused = {
            "refuses the token of this machine": {**own, "RAY_AUTH_TOKEN_PATH": str(wrong)},
            "and there is none here": {"HOME": str(tmp_path)},
            "RAY_AUTH_MODE=disabled sends none": {"RAY_AUTH_MODE": "disabled"},
        }
        heard = {text: joined(cluster.address, **given)[0] for text, given in refused.items()}
    assert (known, by_default) == ("joined 1", "joined 1")
    for text, line in heard.items():
        assert line.startswith(f"--address {cluster.address}: the cluster ")
        assert text in line
        assert "RAY_AUTH_TOKEN_PATH; all machines of a cluster share one token." in line
        assert "\n" not in line


@pytest.mark.slow
def test_nobody_at_an_address_is_said_within_half_a_minute():
    line, seconds = joined(f"127.0.0.1:{free_port()}", RAY_AUTH_MODE="disabled")
    assert "nobody answers there within 10 s" in line
    assert seconds < 60  # most of it is importing


@pytest.mark.parametrize("address", ["ray://head:10001", "http://127.0.0.1:8265", "head", "a:b"])
def test_an_address_of_another_kind_is_refused(address):
    with pytest.raises(ClusterError, match=f"--address {address}: .*HOST:PORT"):
        admission.admitted(address)


@pytest.fixture
def open_cluster(monkeypatch):
    """A cluster that answers everybody, as a stand-in."""
    known = SimpleNamespace(versions={}, nodes=["ab"], token=True, own={"authorization": "x"})
    client = SimpleNamespace(
        get_all_node_info=lambda timeout, state_filter: {
            name: SimpleNamespace(node_id=bytes.fromhex(name)) for name in known.nodes
        }
    )
    monkeypatch.setattr(admission, "ANSWER", 0.0)
    monkeypatch.setattr(admission, "asked", lambda address, metadata: True)
    monkeypatch.setattr(admission, "GcsClient", lambda address: client)
    monkeypatch.setattr(admission, "is_token_auth_enabled", lambda: known.token)
    monkeypatch.setattr(admission, "_own_token", lambda: known.own)
    monkeypatch.setattr(admission.services, "find_node_ids", lambda: {"ab"})
    monkeypatch.setattr(
        "ray._common.usage.usage_lib.get_cluster_metadata", lambda client: known.versions
    )
    return known


def test_an_open_cluster_beyond_loopback_is_joined_only_by_those_who_mean_it(open_cluster):
    with pytest.raises(ClusterError, match=r"lets in everybody .* RAY_AUTH_MODE=disabled"):
        admission.admitted("192.0.2.7:6379")
    open_cluster.token = False
    assert admission.admitted("192.0.2.7:6379") == "192.0.2.7:6379"
    open_cluster.token = True
    assert admission.admitted("127.0.0.2:6379") == "127.0.0.2:6379"
    open_cluster.own = {}
    with pytest.raises(ClusterError, match="RAY_AUTH_MODE=disabled"):
        admission.admitted("127.0.0.2:6379")


def test_a_head_that_falls_silent_has_not_refused_the_token(open_cluster, monkeypatch):
    monkeypatch.setattr(admission, "asked", lambda address, metadata: None if metadata else False)
    with pytest.raises(ClusterError, match="nobody answers"):
        admission.admitted("192.0.2.7:6379")


def test_another_version_is_named(open_cluster):
    open_cluster.token = False
    open_cluster.versions = {"ray_version": "2.1.0", "python_version": "3.8.1"}
    with pytest.raises(ClusterError, match=r"runs Ray 2\.1\.0 on Python 3\.8\.1, this machine "):
        admission.admitted("192.0.2.7:6379")


def test_a_machine_that_is_none_of_the_clusters_hears_what_to_do(open_cluster):
    open_cluster.token = False
    open_cluster.nodes = ["cd"]
    with pytest.raises(ClusterError, match=r"none of the cluster's.*ray start.*clar-tune submit"):
        admission.admitted("192.0.2.7:6379")
