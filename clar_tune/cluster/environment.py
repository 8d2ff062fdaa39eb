"""Settings that Ray reads from the environment when it is imported."""

import os
from ipaddress import ip_address
from urllib.parse import urlsplit

from clar_tune.cluster.ray_internals import LOOPBACK, PREEMPTION, PRELOAD, TITLES

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_COLOR_PREFIX": "0",
    "RAY_AIR_NEW_OUTPUT": "0",  # the newer one prints a table even when it is told not to
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # results go to the store, and nowhere else
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # Ctrl-C is the caller's
    PREEMPTION: "1",
    "TUNE_MAX_PENDING_TRIALS_PG": "10000",  # the searcher knows how many may be out
    "TUNE_GLOBAL_CHECKPOINT_S": "1000000",  # nothing is restored from Tune's snapshots
    "TUNE_WARN_SLOW_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "1000000",
}

PRIVATE = {PRELOAD: "clar_tune.cluster.preloaded", TITLES: "1"}

AUTH_MODE = "RAY_AUTH_MODE"
JOINED = {AUTH_MODE: "token"}  # within reach of others: nobody joins without its token


def prepare(address: str) -> None:
    """Set the environment; to be called before anything imports Ray.

    What the user has set stays as it is.
    """
    near = address == "local" or is_loopback(address)
    for settings in (
        QUIET,
        LOOPBACK if near else {},
        PRIVATE if address == "local" else JOINED,
    ):
        for name, value in settings.items():
            os.environ.setdefault(name, value)


def is_token_auth_enabled() -> bool:
    """Whether this process sends its token to a cluster that it joins, as was prepared."""
    return os.environ.get(AUTH_MODE, JOINED[AUTH_MODE]).lower() == "token"


def is_loopback(address: str) -> bool:
    """Whether a host, a ``HOST:PORT`` or a URL is on this machine and reached from it alone."""
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
