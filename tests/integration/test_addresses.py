"""What names a store, and that nothing secret in it is taken or repeated."""

import socket
import time

import pytest

from clar_tune.errors import StoreError
from clar_tune.store import Store, addresses


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """No credentials or endpoints from outside; a region, so that nobody is asked for it."""
    for name in ("ENDPOINT_URL", "ENDPOINT_URL_S3", "REGION", "ACCESS_KEY_ID", "CA_BUNDLE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


def test_a_google_server_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(addresses, "GCS_PATIENCE", 1)
    store = Store.open("gs://anonymous@bucket/x?endpoint_override=127.0.0.1:9&scheme=http")
    with pytest.raises(StoreError):
        store.runs()


def test_an_endpoint_that_is_dead_or_silent_is_known_soon(monkeypatch):
    monkeypatch.setattr(addresses, "REQUEST", 1.0)
    monkeypatch.setattr(addresses, "ATTEMPTS", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        for server in (silent, dead):
            endpoint = f"127.0.0.1:{server.getsockname()[1]}"
            began = time.monotonic()
            with pytest.raises(StoreError, match="the endpoint does not answer") as caught:
                Store.open(f"s3://bucket/x?endpoint_override={endpoint}&scheme=http").runs()
            assert time.monotonic() - began < 30
            assert "s3://bucket/x/runs cannot be read" in str(caught.value)
            assert "\n" not in str(caught.value)
