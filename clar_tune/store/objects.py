"""Objects of a bucket that are written only under a condition, which pyarrow cannot say."""

import os
import re
from collections.abc import Callable, Mapping
from configparser import ConfigParser
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import GCSStore, S3Store

from clar_tune.store.files import ATTEMPTS, CONNECT, REQUEST, said_by_s3

Version = dict[str, str]
"""What names one state of an object; empty for one that is not there."""

_CODE = re.compile(r"<Code>(?P<code>\w+)</Code>\s*<Message>(?P<detail>.*?)</Message>", re.DOTALL)
_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")


class Changed(Exception):
    """The condition of a write does not hold; the object stays as it is."""


class Objects:
    """Objects of one bucket by their whole path in it."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def get(self, path: str) -> tuple[bytes, Version]:
        """What an object holds, and which state of it that is; nothing if it is not there."""
        try:
            answer = obstore.get(self._store, path)
            return bytes(answer.bytes()), _version(answer.meta)
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise _plain(error) from None
            return b"", {}
        except BaseError as error:
            raise _plain(error) from None

    def put(self, path: str, data: Any, version: Version) -> Version:
        """Replace an object in this state, or create it: all other states stay as they are."""
        mode: Any = version or "create"
        try:
            answer = obstore.put(self._store, path, bytes(data), mode=mode, use_multipart=False)
            return _version(answer)
        except (AlreadyExistsError, PreconditionError) as error:
            raise Changed from error
        except (BaseError, FileNotFoundError) as error:
            raise _plain(error) from None

    def delete(self, path: str) -> None:
        """Remove an object, if it is there."""
        try:
            obstore.delete(self._store, path)
        except FileNotFoundError:
            pass
        except BaseError as error:
            raise _plain(error) from None


def s3_objects(
    bucket: str, region: str, endpoint: str = "", ca_file: str | None = None
) -> Objects:
    """Objects of a bucket on S3; credentials come from where pyarrow takes them, too."""
    config: dict[str, Any] = {
        "region": region,
        "conditional_put": "etag",
        "disable_bulk_delete": True,  # needs a right of its own, and not all servers have it
        **({"endpoint": endpoint} if endpoint else {}),
    }
    options: dict[str, Any] = {"allow_http": endpoint.startswith("http://"), **_patience()}
    if ca_file:
        options["root_certificate"] = Path(ca_file).read_bytes()
    return Objects(
        S3Store(
            bucket,
            config=config | _profile_keys(),  # type: ignore[arg-type]
            client_options=options,  # type: ignore[arg-type]
            retry_config=_RETRIES,  # type: ignore[arg-type]
            credential_provider=_provider(),
        )
    )


def gs_objects(bucket: str) -> Objects:
    """Objects of a bucket of Google's."""
    return Objects(
        GCSStore(bucket, client_options=_patience(), retry_config=_RETRIES)  # type: ignore[arg-type]
    )


_RETRIES = {
    "max_retries": ATTEMPTS - 1,
    "retry_timeout": timedelta(seconds=30),
    "backoff": {
        "init_backoff": timedelta(seconds=0.1),
        "max_backoff": timedelta(seconds=1),
        "base": 2,
    },
}


def _patience() -> dict[str, timedelta]:
    return {
        "connect_timeout": timedelta(seconds=CONNECT),
        "read_timeout": timedelta(seconds=REQUEST),
        "timeout": timedelta(seconds=60),
    }


def _version(answer: Mapping[str, Any]) -> Version:
    return {name: answer[name] for name in ("e_tag", "version") if answer[name] is not None}


def _profile_keys() -> dict[str, str]:
    """Keys of the user's profile, where the environment has none."""
    found = {} if "AWS_ACCESS_KEY_ID" in os.environ else _profile()
    if not all(found.get(name) for name in _KEYS[:2]):
        return {}
    return {name.removeprefix("aws_"): found[name] for name in _KEYS if found.get(name)}


def _profile() -> dict[str, str]:
    """What the files of AWS say of the profile that is chosen."""
    name = os.environ.get("AWS_PROFILE", "default")
    found: dict[str, str] = {}
    for variable, file, section in (
        ("AWS_CONFIG_FILE", "config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", name),
    ):
        parser = ConfigParser(interpolation=None)
        parser.read(os.environ.get(variable, Path.home() / ".aws" / file))
        if parser.has_section(section):
            found |= dict(parser[section])
    return found


def _provider() -> Callable[[], Any] | None:
    """Where a profile names another source than keys, botocore knows it, if it is installed."""
    if "AWS_ACCESS_KEY_ID" in os.environ or not _profile() or _profile_keys():
        return None
    try:
        from botocore.session import Session  # type: ignore[import-untyped]
    except ImportError:
        return None
    session = Session()

    def credentials() -> dict[str, Any]:
        frozen = session.get_credentials().get_frozen_credentials()
        return {
            "access_key_id": frozen.access_key,
            "secret_access_key": frozen.secret_key,
            "token": frozen.token,
            "expires_at": datetime.now(UTC) + timedelta(minutes=5),  # botocore renews them
        }

    return credentials


def _plain(error: Exception) -> OSError:
    """An error of a server in a few words; its text would be long, and name the request."""
    text = str(error).partition("\n\nDebug source")[0]
    answer = _CODE.search(text)
    if answer is not None:
        return OSError(0, said_by_s3(_upper(answer["code"]), answer["detail"].rstrip(".")))
    if "error sending request" in text:
        return OSError(0, said_by_s3("NETWORK_CONNECTION", "no answer"))
    return OSError(0, " ".join(text.splitlines()[0].rsplit(" - ", 1)[-1].split()))


def _upper(name: str) -> str:
    """``SlowDown`` as ``SLOW_DOWN``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
