"""Where a store lies: a directory, a bucket on S3, or another URI that pyarrow knows."""

import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit, urlunsplit

import pyarrow as pa
from pyarrow import fs

from clar_tune.errors import StoreError
from clar_tune.store.files import ATTEMPTS, CONNECT, REQUEST, cause_of

if TYPE_CHECKING:
    from clar_tune.store.objects import Objects

S3_OPTIONS = ("endpoint_override", "region", "scheme", "tls_ca_file_path")
"""What the address of a bucket may say behind its ``?``."""

GCS_PATIENCE = 15
"""Seconds after which Google's library, which would go on for a quarter of an hour, gives up."""

_CREDENTIALS = (
    "Credentials come from the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a "
    "profile, a role of the machine), never from the address."
)


_TELLING = ("key", "secret", "token", "passw")
_PASSWORD = re.compile(r"[^/@:]*:(?!\d+/)[^@]*@")
"""``user:password@``, but no port before a path."""


class Address(NamedTuple):
    """A filesystem, the store's folder on it, and the address without what nobody may see."""

    filesystem: Any
    path: str
    shown: str
    server: str = ""
    """Whose bucket it is, if not Amazon's."""
    objects: "Callable[[], Objects] | None" = None
    """Opens the bucket for writes under a condition, where it knows them."""


def resolve(address: str) -> Address:
    """The filesystem behind an address; nothing is created."""
    if "://" not in address:
        return _directory(address, address)
    try:
        parts = urlsplit(address)
        refuse_credentials(address)
        if parts.scheme == "s3":
            return _bucket(parts)
        filesystem, path = fs.FileSystem.from_uri(_bounded(parts))
    except (pa.ArrowException, OSError, ValueError) as error:
        shown = _plain(urlsplit(address.partition("?")[0]))
        raise StoreError(
            f"store {shown!r} cannot be opened ({cause_of(error).replace(address, shown)}). "
            "Give a directory, or a URI such as s3://bucket/folder."
        ) from None
    if isinstance(filesystem, fs.LocalFileSystem):
        return _directory(path, path)
    objects = _google(path) if parts.scheme in ("gs", "gcs") else None
    return Address(filesystem, path, _plain(parts), objects=objects)


def _google(path: str) -> "Callable[[], Objects]":
    @cache
    def opened() -> "Objects":
        from clar_tune.store.objects import gs_objects

        return gs_objects(path.partition("/")[0])

    return opened


def _bounded(parts: SplitResult) -> str:
    """An address whose filesystem does not repeat a refused request for ever."""
    if parts.scheme not in ("gs", "gcs") or "retry_limit_seconds" in parse_qs(parts.query):
        return urlunsplit(parts)
    limit = f"retry_limit_seconds={GCS_PATIENCE}"
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, limit)))))


def _directory(path: str, shown: str) -> Address:
    folder = Path(path).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"store {shown} is a file. Give a directory; it need not exist yet.")
    return Address(fs.LocalFileSystem(), str(folder), shown)


def _bucket(parts: SplitResult) -> Address:
    """A folder of a bucket.

    pyarrow's own reading of such an address knows no time limits, repeats a refused request
    thirty times, and needs three requests for a small object instead of one.
    """
    given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    bucket, path = parts.netloc, unquote(parts.path).strip("/")
    if unknown := sorted(set(given) - set(S3_OPTIONS)):
        raise StoreError(
            f"store {_plain(parts)}: unknown option {', '.join(unknown)}. "
            f"Allowed: {', '.join(S3_OPTIONS)}. {_CREDENTIALS}"
        )
    if not bucket:
        raise StoreError("store s3://: no bucket is named. Write s3://bucket/folder.")
    scheme, endpoint = _endpoint(given)
    region = _region(given, bucket, endpoint)
    ca_file = given.get("tls_ca_file_path", os.environ.get("AWS_CA_BUNDLE"))
    filesystem = fs.S3FileSystem(
        endpoint_override=endpoint,
        scheme=scheme,
        region=region,
        tls_ca_file_path=ca_file,
        connect_timeout=CONNECT,
        request_timeout=REQUEST,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
        background_writes=False,  # a refusal is to be known when the write returns
        allow_delayed_open=True,  # small objects are put in one request
    )

    @cache
    def objects() -> "Objects":
        from clar_tune.store.objects import s3_objects

        return s3_objects(bucket, region, f"{scheme}://{endpoint}" if endpoint else "", ca_file)

    place = f"{bucket}/{path}".rstrip("/")
    return Address(filesystem, place, _plain(parts), endpoint or "", objects)


def _endpoint(given: Mapping[str, str]) -> tuple[str, str | None]:
    """Scheme and host of the server; pyarrow itself would not look at the environment."""
    named = given.get(
        "endpoint_override",
        os.environ.get("AWS_ENDPOINT_URL_S3", os.environ.get("AWS_ENDPOINT_URL", "")),
    )
    scheme, mark, host = named.rstrip("/").rpartition("://")
    if "@" in host:  # of the environment; an address was asked before
        raise StoreError(f"the endpoint of the store holds credentials. {_CREDENTIALS}")
    return given.get("scheme", scheme if mark else "https"), host or None


def _region(given: Mapping[str, str], bucket: str, endpoint: str | None) -> str:
    usual = (os.environ.get(name) for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    found = next(filter(None, (given.get("region"), *usual)), None)
    if found is None and endpoint is None:
        return str(fs.resolve_s3_region(bucket))
    return found or "us-east-1"  # other servers than Amazon's hardly care


def refuse_credentials(address: str) -> None:
    """Refuse an address that holds credentials, and repeat nothing of what may be one."""
    parts = urlsplit(address)
    options = parse_qs(parts.query, keep_blank_values=True)
    telling = any(word in name.lower() for name in options for word in _TELLING)
    telling = telling or any("@" in value for value in options.get("endpoint_override", ()))
    # A secret may hold a slash: what looks like a path can still be a part of it.
    given = _PASSWORD.match(parts.netloc + parts.path)
    if telling or given or (parts.scheme == "s3" and {"@", ":"} & set(parts.netloc)):
        raise StoreError(
            f"store {parts.scheme}://… cannot be opened: its address holds credentials. "
            f"{_CREDENTIALS}"
        )


def _plain(parts: SplitResult) -> str:
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=host, query="", fragment=""))
