"""What names a store, and that nothing secret in it is taken or repeated."""

from urllib.parse import parse_qs, urlsplit

import pytest
from pyarrow import fs

from clar_tune.errors import StoreError
from clar_tune.store import Store, addresses
from clar_tune.store.addresses import resolve
from clar_tune.store.files import Files
from clar_tune.store.journal import wal_path

SECRET = "wJalrXUtnFEMI"


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """No credentials or endpoints from outside; a region, so that nobody is asked for it."""
    for name in ("ENDPOINT_URL", "ENDPOINT_URL_S3", "REGION", "ACCESS_KEY_ID", "CA_BUNDLE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


@pytest.fixture
def made(monkeypatch):
    """How S3 filesystems were made."""
    calls = []

    def make(**given):
        calls.append(given)
        return fs._MockFileSystem()

    monkeypatch.setattr(fs, "S3FileSystem", make)
    return calls


@pytest.mark.parametrize(
    "address",
    [
        f"s3://AKIDKEY:{SECRET}@bucket/folder",
        f"s3://AKIDKEY:aa/{SECRET}@bucket/folder",
        f"s3://{SECRET}@bucket/folder",
        f"s3://bucket/folder?secret_key={SECRET}",
        f"s3://bucket/folder?region=eu&access_key={SECRET}&secret_key=a",
        f"s3://bucket/folder?AWS_SESSION_TOKEN={SECRET}",
        f"s3://bucket?endpoint_override=http://me:{SECRET}@127.0.0.1:9",
        f"hdfs://me:{SECRET}@host:8020/folder",
        f"hdfs://me:a/{SECRET}@host/folder",
        f"nope://me:{SECRET}@bucket/folder",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(address):
    with pytest.raises(StoreError, match="credentials") as caught:
        Store.open(address)
    said = str(caught.value)
    assert SECRET not in said and "AKIDKEY" not in said
    assert "AWS_ACCESS_KEY_ID" in said and "\n" not in said


@pytest.mark.parametrize("address", ["s3://bucket/me@home:8", "s3://bucket/a%20b", "s3://bucket"])
def test_a_folder_may_have_any_name(address, made):
    path = resolve(address).path
    assert path == address.removeprefix("s3://").replace("%20", " ")


def test_an_unknown_option_is_refused_with_the_allowed_ones(made):
    with pytest.raises(StoreError, match=r"unknown option regoin\. Allowed: .*region, scheme"):
        Store.open("s3://bucket/folder?regoin=eu-central-1")


@pytest.mark.parametrize(
    ("query", "limit"), [("", 15), ("?scheme=http", 15), ("?retry_limit_seconds=3", 3)]
)
def test_google_s_library_does_not_try_for_a_quarter_of_an_hour(query, limit):
    bounded = addresses._bounded(urlsplit(f"gs://bucket/x{query}"))
    assert parse_qs(urlsplit(bounded).query)["retry_limit_seconds"] == [str(limit)]
    assert bounded.startswith(f"gs://bucket/x{query or '?'}")


def test_a_bucket_needs_a_name():
    with pytest.raises(StoreError, match="no bucket"):
        Store.open("s3:///folder")


@pytest.mark.parametrize(
    ("query", "environment", "host", "scheme", "region"),
    [
        ("", {}, None, "https", "eu-central-1"),
        ("", {"ENDPOINT_URL": "http://here:9000/"}, "here:9000", "http", "eu-central-1"),
        (
            "",
            {"ENDPOINT_URL": "http://here", "ENDPOINT_URL_S3": "https://there"},
            *("there", "https", "eu-central-1"),
        ),
        (
            "?endpoint_override=other:9&scheme=http&region=eu-west-1",
            {"ENDPOINT_URL": "https://here:9000"},
            *("other:9", "http", "eu-west-1"),
        ),
        ("?endpoint_override=http://other:9", {}, "other:9", "http", "eu-central-1"),
        ("", {"REGION": "eu-north-1"}, None, "https", "eu-north-1"),
    ],
)
def test_the_endpoint_comes_from_the_address_then_from_the_environment(
    query, environment, host, scheme, region, made, monkeypatch
):
    for name, value in environment.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    store = Store.open(f"s3://bucket/folder{query}")
    assert store.url == "s3://bucket/folder"
    [given] = made
    assert (given["endpoint_override"], given["scheme"], given["region"]) == (host, scheme, region)


def test_credentials_are_left_to_the_usual_places(made, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", SECRET)
    Store.open("s3://bucket/folder")
    assert SECRET not in str(made) and not {"access_key", "secret_key"} & made[0].keys()


def test_another_server_needs_no_region(made, monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    Store.open("s3://bucket?endpoint_override=http://here:9000")
    assert made[0]["region"] == "us-east-1"


def test_a_region_that_cannot_be_found_is_one_clear_line(monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")

    def unknown(bucket):
        raise OSError(
            f"When resolving region for bucket '{bucket}': AWS Error UNKNOWN during "
            "HeadBucket operation: gone (Request ID: 1)"
        )

    monkeypatch.setattr(fs, "resolve_s3_region", unknown)
    with pytest.raises(StoreError, match=r"'s3://bucket/x' cannot be opened \(.*gone, UNKNOWN"):
        Store.open("s3://bucket/x?tls_ca_file_path=a")


def test_two_servers_share_no_write_ahead_file(made):
    places = {
        wal_path(Files(*resolve(f"s3://bucket/folder{server}")), "it")
        for server in ("", "?endpoint_override=http://a:9000", "?endpoint_override=http://b:9000")
    }
    assert len(places) == 3
