"""Who is let into a cluster, and what those hear who are not."""

from types import SimpleNamespace

import pytest

from clar_tune.cluster import admission
from clar_tune.errors import ClusterError


@pytest.mark.parametrize("address", ["ray://head:10001", "http://127.0.0.1:8265", "head", "a:b"])
def test_an_address_of_another_kind_is_refused(address):
    with pytest.raises(ClusterError, match=f"--address {address}: .*HOST:PORT"):
        admission.admitted(address)


@pytest.mark.parametrize(
    ("mode", "sent"), [("token", True), ("Token", True), ("disabled", False), (None, True)]
)
def test_a_token_is_sent_unless_the_user_says_otherwise(mode, sent, monkeypatch):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    assert admission.is_token_auth_enabled() == sent


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
    monkeypatch.setattr("ray._raylet.GcsClient", lambda address: client)
    monkeypatch.setattr(admission, "is_token_auth_enabled", lambda: known.token)
    monkeypatch.setattr(admission, "_own_token", lambda: known.own)
    monkeypatch.setattr("ray._private.services.find_node_ids", lambda: {"ab"})
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
