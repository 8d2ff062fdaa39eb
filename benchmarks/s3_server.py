"""An S3 server in a process of its own, by default on loopback, with faults to switch on.

moto answers as S3 does, but takes any credentials; the layer before it knows one access key,
counts requests and, while a fault is on, refuses to write.
"""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

BUCKET = "results"
ACCESS_KEY = "AKIDTESTACCESSKEY01"
SECRET_KEY = "s3cr3t-0f-the-t3sts-WJalrXUtnFEMI"
SESSION_TOKEN = "session-t0ken-of-the-tests-FwoGZXIvYXdz"

SWITCH = "/_faults"
CONDITIONS = ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH")
WRITES = ("PUT", "POST", "DELETE")
FAULTS = {
    "slow-down": ("503 Slow Down", "SlowDown", "Please reduce your request rate."),
    "forbidden": ("403 Forbidden", "AccessDenied", "Access Denied"),
}
LOST = ("500 Internal Server Error", "InternalError", "We encountered an internal error.")
STRANGER = ("403 Forbidden", "InvalidAccessKeyId", "The access key does not exist.")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    port: int
    address: str = "127.0.0.1"

    @property
    def endpoint(self) -> str:
        """What AWS_ENDPOINT_URL is to hold."""
        return f"http://{self.address}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which S3 clients find the server and may use it."""
        return {**self.credentials, "AWS_ENDPOINT_URL": self.endpoint}

    @property
    def credentials(self) -> dict[str, str]:
        """Variables by which S3 clients may use the server."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_SESSION_TOKEN": SESSION_TOKEN,
            "AWS_REGION": "eu-central-1",
        }

    def refuse_writes(self, fault: str | None) -> None:
        """Begin to answer writes with a fault, or end it.

        By ``lost-answer`` Parquet files are written, and their writer is told that they are not;
        by ``no-conditions`` everything is written, whatever its condition.
        """
        self._asked("POST", {"fault": fault})

    def requests(self) -> list[str]:
        """Method, path and status of all requests since this was asked last."""
        requests: list[str] = self._asked("GET")["requests"]
        return requests

    def _asked(self, method: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.endpoint}{SWITCH}", data, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def _here(*words: str) -> list[str]:
    return list(words)


@contextmanager
def s3_server(
    address: str = "127.0.0.1", bucket: str = BUCKET, inside: Callable[..., list[str]] = _here
) -> Iterator[Server]:
    """A server with an empty bucket for as long as the block lasts; ``inside`` says where."""
    command = inside(sys.executable, __file__, address, bucket)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Server(int(process.stdout.readline()), address)
    finally:
        process.kill()
        process.communicate()


class Faulty:
    """A WSGI application before moto's."""

    def __init__(self, behind: Any) -> None:
        self._behind, self._fault = behind, None
        self._requests: list[str] = []

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        """Answer one request."""
        if environ["PATH_INFO"] == SWITCH:
            return self._switched(environ, start)
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        query = f"?{environ['QUERY_STRING']}" if environ["QUERY_STRING"] else ""

        def noted(status: str, *rest: Any) -> Any:
            self._requests.append(f"{method} {path}{query} {status[:3]}")
            return start(status, *rest)

        if f"Credential={ACCESS_KEY}/" not in environ.get("HTTP_AUTHORIZATION", ""):
            return _refused(environ, noted, *STRANGER)
        if self._fault == "lost-answer" and method == "PUT" and path.endswith(".parquet"):
            b"".join(self._behind(environ, lambda *_: None))  # written, and nobody is told
            return _refused({**environ, "CONTENT_LENGTH": "0"}, noted, *LOST)  # it is read
        if self._fault == "no-conditions":
            environ = {k: v for k, v in environ.items() if k not in CONDITIONS}
        if self._fault in FAULTS and method in WRITES:
            return _refused(environ, noted, *FAULTS[self._fault])
        return self._behind(environ, noted)

    def _switched(self, environ: dict[str, Any], start: Any) -> list[bytes]:
        answer: dict[str, Any] = {}
        if environ["REQUEST_METHOD"] == "POST":
            size = int(environ["CONTENT_LENGTH"])
            self._fault = json.loads(environ["wsgi.input"].read(size))["fault"]
        else:
            answer["requests"], self._requests = self._requests, []
        start("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(answer).encode()]


def _refused(
    environ: dict[str, Any], start: Any, status: str, code: str, message: str
) -> list[bytes]:
    # What is not read would be taken for the next request on the same connection.
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start(status, [("Content-Type", "application/xml")])
    return [f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()]


def _serve(address: str, bucket: str) -> None:
    import logging
    import threading

    from moto.backends import get_backend
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Lasting(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    get_backend("s3")["123456789012"]["aws"].create_bucket(bucket, "eu-central-1")
    moto = DomainDispatcherApplication(create_backend_app)
    server = make_server(address, 0, Faulty(moto), threaded=True, request_handler=Lasting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()  # it ends with whoever started it


if __name__ == "__main__":
    _serve(*sys.argv[1:])
