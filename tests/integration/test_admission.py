"""Who is let into a cluster, and what those hear who are not."""

import os
import subprocess
import sys
import time

from support.ray_nodes import free_port, ray_cluster

TOKEN = "a-token-of-tests"

JOIN = """\
import sys, warnings
warnings.simplefilter("ignore")
from clar_tune.errors import ClarTuneError
from clar_tune.cluster.environment import prepare

prepare(sys.argv[1])
from clar_tune.cluster.connection import connected

try:
    with connected(sys.argv[1]) as nodes:
        print("joined", len(nodes))
except ClarTuneError as error:
    print(error)
"""


def joined(address, **environment):
    """What a driver hears, and how long that took."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", JOIN, address],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert TOKEN not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), time.monotonic() - began


def test_only_those_with_the_clusters_token_are_let_in(tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("another-token")
    with ray_cluster(tmp_path / "cluster", TOKEN) as cluster:
        cluster.start_head("--num-cpus=0")
        own = cluster.environment
        known, _ = joined(cluster.address, **own)
        by_default, _ = joined(
            cluster.address, RAY_AUTH_TOKEN_PATH=own["RAY_AUTH_TOKEN_PATH"], HOME=str(tmp_path)
        )
        refused = {
            "refuses the token of this machine": {**own, "RAY_AUTH_TOKEN_PATH": str(wrong)},
            "and there is none here": {"HOME": str(tmp_path)},
            "RAY_AUTH_MODE=disabled sends none": {"RAY_AUTH_MODE": "disabled"},
        }
        heard = {text: joined(cluster.address, **given)[0] for text, given in refused.items()}
    assert (known, by_default) == ("joined 1", "joined 1")
    for text, line in heard.items():
        assert line.startswith(f"--address {cluster.address}: the cluster ")
        assert text in line
        assert "RAY_AUTH_TOKEN_PATH; all machines of a cluster share one token." in line
        assert "\n" not in line


def test_nobody_at_an_address_is_said_within_half_a_minute():
    line, seconds = joined(f"127.0.0.1:{free_port()}", RAY_AUTH_MODE="disabled")
    assert "nobody answers there within 10 s" in line
    assert seconds < 60  # most of it is importing
