"""Data and scripts inside an HTML page, where no text may end them or run by itself."""

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

_ESCAPES = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


def json_text(value: Any) -> str:
    """JSON that stands in a script element as it is: it holds no ``<``, ``>`` or ``&``."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.translate(_ESCAPES)


def json_block(ident: str, text: str) -> Markup:
    """A script element that holds JSON text, which browsers do not run."""
    return Markup('<script type="application/json" id="{}">{}</script>').format(
        ident, Markup(text)
    )


def script_block(source: str) -> Markup:
    """A script element with our own source."""
    return Markup("<script>{}</script>").format(Markup(checked(source)))


def checked(source: str) -> str:
    """A script or style as a browser reads it back, which its hash in the policy needs."""
    lowered = source.lower()
    if "\r" in source or "</script" in lowered or "</style" in lowered or "<!--" in source:
        raise ValueError("a script of the page holds a text that would end it")
    return source


def policy(scripts: Iterable[str], styles: Iterable[str], *, live: bool) -> str:
    """A content security policy: our scripts and styles by their hashes, and nothing else.

    No text of the store can run, even if it found its way into the page as markup.
    """
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(map(_hash, scripts)),
        "style-src": " ".join(map(_hash, styles)),
        "img-src": "data:",
        "connect-src": "'self'" if live else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
