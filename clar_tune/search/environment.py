"""Settings that Ray reads from the environment when it is imported."""

import os

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_COLOR_PREFIX": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # results go to the store, and nowhere else
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # Ctrl-C drains: see the driver
    "TUNE_GLOBAL_CHECKPOINT_S": "1000000",  # nothing is restored from Tune's snapshots
    "TUNE_WARN_SLOW_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "1000000",
}

LOCAL = {
    # The only switch by which a local cluster listens on loopback alone.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # The titles of Ray's processes must not overwrite the mark by which the guard knows them.
    "SPT_NOENV": "1",
}


def prepare(address: str) -> None:
    """Set the environment; to be called before anything imports Ray."""
    settings = {**QUIET, **LOCAL} if address == "local" else QUIET
    for name, value in settings.items():
        os.environ.setdefault(name, value)
