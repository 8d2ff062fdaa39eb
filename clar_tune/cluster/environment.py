"""Settings that Ray reads from the environment when it is imported."""

import os
from ipaddress import ip_address
from urllib.parse import urlsplit

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_COLOR_PREFIX": "0",
    "RAY_AIR_NEW_OUTPUT": "0",  # the newer one prints a table even when it is told not to
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # results go to the store, and nowhere else
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # Ctrl-C is the caller's
    # Otherwise Tune itself begins the trial of a preempted machine anew, at its first repeat.
    "RAY_TRAIN_COUNT_PREEMPTION_AS_FAILURE": "1",
    "TUNE_MAX_PENDING_TRIALS_PG": "10000",  # the searcher knows how many may be out
    "TUNE_GLOBAL_CHECKPOINT_S": "1000000",  # nothing is restored from Tune's snapshots
    "TUNE_WARN_SLOW_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "1000000",
}

LOOPBACK = {
    # The only switch by which a cluster listens on loopback alone, or is looked for there.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}

PRIVATE = {
    # Workers that Ray would start ahead are none that a trial could use.
    "RAY_prestart_worker_first_driver": "0",
    # The titles of Ray's processes must not overwrite the mark by which the guard knows them.
    "SPT_NOENV": "1",
}

JOINED = {
    # A cluster may be within reach of others: nobody joins it without its token.
    "RAY_AUTH_MODE": "token",
}


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


def is_loopback(address: str) -> bool:
    """Whether a host, a ``HOST:PORT`` or a URL is on this machine and reached from it alone."""
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
