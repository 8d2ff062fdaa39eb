"""Who may see a served page: this machine, or whoever has the token."""

import hmac
import ipaddress
import os
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from clar_tune.errors import ParameterError

TOKEN_VARIABLE = "CLAR_TUNE_TOKEN"
SHORTEST = 16
"""Characters of a token that nobody guesses."""
COOKIE = "clar-tune-report"


@dataclass(frozen=True, slots=True)
class Access:
    """The rule of a server; without a token only this machine reaches it."""

    token: str | None = field(default=None, repr=False)
    fresh: bool = False
    """Whether the token was made here, so that nobody knows it yet."""

    @staticmethod
    def at(host: str) -> "Access":
        """None is needed on loopback; elsewhere the token of the environment, or a fresh one."""
        if not host.strip():  # sockets take it for every address of the machine
            raise ParameterError(
                "--host is empty. Name an address of this machine, such as 127.0.0.1, or 0.0.0.0 "
                "for all of them, or leave it out."
            )
        if is_loopback(host):
            return Access()
        known = os.environ.get(TOKEN_VARIABLE)
        if not known:
            return Access(secrets.token_urlsafe(24), fresh=True)
        if len(known) < SHORTEST:
            raise ParameterError(
                f"the token of ${TOKEN_VARIABLE} could be guessed: it has {len(known)} of the "
                f"{SHORTEST} characters needed. Set a longer one, or none for a fresh one."
            )
        return Access(known)

    def knows_host(self, header: str | None) -> bool:
        """Whether a request was meant for this machine.

        A foreign page can point a name of its own at 127.0.0.1 and then read what is served
        there, but its requests still carry that name. Where a token is needed, it decides.
        """
        return self.token is not None or is_loopback(_name_in(header or ""))

    def admits(self, authorization: str | None, cookies: str | None) -> bool:
        """Whether a request has the token, or the cookie that stands for it."""
        if self.token is None:
            return True
        kind, _, given = (authorization or "").partition(" ")
        if kind.lower() == "bearer" and self.is_token(given.strip()):
            return True
        return _equal(_cookie_in(cookies or ""), self._pass())

    def is_token(self, given: str) -> bool:
        """Whether this is the token; takes as long for any text."""
        return self.token is not None and _equal(given, self.token)

    @property
    def cookie(self) -> str:
        """What a browser keeps instead of the token: no script and no other site can use it."""
        return f"{COOKIE}={self._pass()}; Path=/; HttpOnly; SameSite=Strict"

    def _pass(self) -> str:
        return hmac.digest((self.token or "").encode(), COOKIE.encode(), "sha256").hex()


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_in(header: str) -> str:
    """The host of ``host:port`` or ``[address]:port``."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


def _cookie_in(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), expected.encode())
