"""Serves a live page: one page, its content, the data of its studies, and nothing else."""

import errno
import socket
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs

from clar_tune.errors import ParameterError
from clar_tune.report.access import Access
from clar_tune.report.live import LivePage
from clar_tune.report.page import Built

EVERYWHERE = ("0.0.0.0", "::")
HTML, JSON, TEXT = "text/html", "application/json", "text/plain"
PATIENCE = 30.0
"""Seconds that a connection may stay silent."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class PageServer(ThreadingHTTPServer):
    """Listens at once; answers once it has a page."""

    daemon_threads = True
    page: LivePage

    def __init__(self, host: str, port: int, access: Access) -> None:
        self.access = access
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise ParameterError(_reason(host, port, error)) from None

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = str(self.server_address[0]), self.server_address[1]
        name = socket.gethostname() if host in EVERYWHERE else host
        return f"http://{f'[{name}]' if ':' in name else name}:{port}/"

    def server_bind(self) -> None:
        """Bind without asking a name server who we are, which can take long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "clar-tune", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = PATIENCE

    def do_GET(self) -> None:
        """Answer a request, or say why not."""
        path, _, query = self.path.partition("?")
        access = self.server.access
        if not access.knows_host(self.headers.get("Host")):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to localhost only")
        elif access.is_token(parse_qs(query).get("token", [""])[0]):
            self._send(HTTPStatus.SEE_OTHER, Location="/", **{"Set-Cookie": access.cookie})
        elif not access.admits(self.headers.get("Authorization"), self.headers.get("Cookie")):
            text = "this report needs the token that its server printed"
            self._refuse(HTTPStatus.UNAUTHORIZED, text, **{"WWW-Authenticate": "Bearer"})
        else:
            self._answer(path)

    do_HEAD = do_GET

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """What is no request that we know; its body, if any, stays unread."""
        unknown = code == HTTPStatus.NOT_IMPLEMENTED
        status = HTTPStatus.METHOD_NOT_ALLOWED if unknown else HTTPStatus(code)
        allowed = {"Allow": "GET, HEAD"} if unknown else {}
        self._refuse(status, status.phrase.lower(), **allowed)

    def _answer(self, path: str) -> None:
        built = self.server.page.built
        kind, text = _found(built, path)
        if text is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")
            return
        marks = {"Clar-Tune-Store": "unreadable" if self.server.page.trouble else "read"}
        if path == "/content":
            marks["ETag"] = f'"{built.version}"'
            if marks["ETag"] in self.headers.get("If-None-Match", ""):
                self._send(HTTPStatus.NOT_MODIFIED, **marks)
                return
        self._send(HTTPStatus.OK, text, kind, **marks)

    def _refuse(self, status: HTTPStatus, text: str, **headers: str) -> None:
        self._send(status, f"{status.value}: {text}\n", TEXT, **headers)

    def _send(self, status: HTTPStatus, text: str = "", kind: str = TEXT, **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        own = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
        if status == HTTPStatus.NOT_MODIFIED:
            own = {}
        for name, value in {**HEADERS, **own, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        """Tell nobody which Python runs here."""
        return "clar-tune"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: an address may hold a token."""


def _found(built: Built, path: str) -> tuple[str, str | None]:
    if path == "/":
        return HTML, built.page
    if path == "/content":
        return HTML, built.content
    if path.startswith("/study/") and path.endswith(".json"):
        return JSON, built.studies.get(path.removeprefix("/study/").removesuffix(".json"))
    return TEXT, None


def _reason(host: str, port: int, error: OSError | OverflowError) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use. Choose another --port, or leave it out."
    reason = getattr(error, "strerror", None) or str(error)
    return f"cannot listen on {host} port {port}: {reason}. Choose another --host or --port."
