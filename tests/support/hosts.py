"""Several hosts on one machine: network and process namespaces, joined by a bridge.

Every host has an address, processes and a ``/tmp`` of its own; only the program is shared. It is
cut off by taking its link down, and killed by killing its first process, with which the kernel
ends all others. Nothing of it can be reached from outside, and all goes with this process.
"""

import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from support.commands import CLAR_TUNE, PATIENCE, Done, Place

RAY = Path(sys.executable).with_name("ray")
HEAD = "10.77.0.1:6379"
PREFIX = f"clar-{os.getpid()}"
PROGRAM = (Path(__file__).parents[2], Path(sys.prefix))
"""What every host shares; it may lie below ``/tmp`` as well."""
TRIES = 3

QUICK = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "3000",
    "RAY_health_check_failure_threshold": "4",
}
"""A lost host is noticed after some seconds; as shipped, Ray takes up to a minute."""

INIT = """\
hostname "$1" && shift
mount --bind /tmp /mnt
mount -t tmpfs none /tmp
for folder in "$@"; do
    case "$folder" in
    /tmp/*) mkdir -p "$folder" && mount --bind "/mnt${folder#/tmp}" "$folder" ;;
    esac
done
umount /mnt
ip link set lo up
echo ready
sleep infinity & wait
"""
"""The first process of a host; its ``wait`` also buries what others leave behind."""


def missing() -> str | None:
    """Why there can be no hosts here, or nothing."""
    tools = [name for name in ("ip", "unshare", "nsenter", "setpriv") if not shutil.which(name)]
    if tools:
        return f"{', '.join(tools)} (Debian: iproute2, util-linux) not here"
    if os.geteuid() != 0:
        return "network namespaces need root"
    probe = f"{PREFIX}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", probe], capture_output=True, check=False)
    return None if made.returncode == 0 else f"no network namespaces: {made.stderr.decode()}"


class Host:
    """One host; ``shared`` is the only folder below ``/tmp`` that it sees from outside."""

    def __init__(self, network: str, number: int, token: str, shared: Path) -> None:
        self.address, self.name = f"10.77.0.{number}", f"host-{number}"
        self._token, self._shared = token, shared
        self._switch, self._space, self._link = network, f"{network}-{number}", f"v{number}"
        _ip("netns", "add", self._space)
        pair = ("type", "veth", "peer", "name", "eth0", "netns", self._space)
        _ip("-n", self._switch, "link", "add", self._link, *pair)
        _ip("-n", self._switch, "link", "set", self._link, "master", "bridge", "up")
        _ip("-n", self._space, "addr", "add", f"{self.address}/24", "dev", "eth0")
        _ip("-n", self._space, "link", "set", "eth0", "up")
        self.boot()

    def boot(self) -> None:
        """Begin with nothing but a token."""
        apart = ("--pid", "--fork", "--kill-child", "--mount-proc", "--uts")
        seen = dict.fromkeys((*PROGRAM, self._shared))
        first = ("sh", "-c", INIT, "sh", self.name, *map(str, seen))
        self._outer = subprocess.Popen(
            ["ip", "netns", "exec", self._space]
            + ["setpriv", "--pdeathsig", "KILL", "unshare", *apart, *first],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._outer.stdout
        with self._outer.stdout as told:
            assert told.readline() == b"ready\n"
        outer = self._outer.pid
        self._init = int(Path(f"/proc/{outer}/task/{outer}/children").read_text())
        self.write("/tmp/token", self._token)

    def command(self, *words: str | Path) -> list[str]:
        """A command line that runs on this host."""
        spaces = ("--mount", "--net", "--pid", "--uts")
        return ["nsenter", "--target", str(self._init), *spaces, *map(str, words)]

    def environment(self) -> dict[str, str]:
        """Ray's settings on every host; the token is in the file that they name."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "CLAR_TUNE_"))}
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": "/tmp/token"}
        return {**kept, **QUICK, **token, "RAY_USAGE_STATS_ENABLED": "0", "HOME": "/tmp"}

    def run(self, *words: str | Path, environment: dict[str, str] | None = None) -> Done:
        """A command from its start to its end."""
        done = subprocess.run(
            self.command(*words),
            env=self.environment() if environment is None else environment,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def ray(self, *words: str) -> Done:
        """``ray start``; the processes that it starts stay."""
        own = ("--node-ip-address", self.address, "--object-store-memory", "100000000")
        return self.run(RAY, "start", *own, "--num-gpus", "0", *words)

    def write(self, path: str, text: str) -> None:
        """A file that only its owner reads."""
        command = self.command("sh", "-c", 'umask 077; cat > "$1"', "sh", path)
        subprocess.run(command, input=text.encode(), check=True)

    def processes(self, pattern: str) -> list[str]:
        """Command lines that match, of what was started here and stayed."""
        lines = [command_line(child) for child in psutil.Process(self._init).children(True)]
        return [line for line in lines if re.search(pattern, line)]

    def cut(self) -> None:
        """Take the network away."""
        _ip("-n", self._switch, "link", "set", self._link, "down")

    def mend(self) -> None:
        """Give it back."""
        _ip("-n", self._switch, "link", "set", self._link, "up")

    def kill(self) -> None:
        """As when a machine loses its power: SIGKILL to all its processes at once."""
        self._outer.kill()
        self._outer.wait()
        eventually(lambda: not Path(f"/proc/{self._init}").exists(), "the end of a host")

    def remove(self) -> None:
        self.kill()
        _ip("netns", "del", self._space)


class Network:
    """Hosts that see each other; one token for all."""

    def __init__(self, stack: ExitStack) -> None:
        self._name, self._stack = f"{PREFIX}-{secrets.token_hex(2)}", stack
        self._token, self._hosts = secrets.token_hex(32), 0
        _ip("netns", "add", self._name)
        stack.callback(_ip, "netns", "del", self._name)
        _ip("-n", self._name, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._name, "link", "set", "bridge", "up")

    def host(self, token: str | None = None, shared: Path = Path("/tmp")) -> Host:
        """One more host."""
        self._hosts += 1
        host = Host(self._name, self._hosts, token or self._token, shared)
        self._stack.callback(host.remove)
        return host

    def head(self, shared: Path) -> Host:
        """The first host, which runs no trials and sees a folder."""
        head = self.host(shared=shared)
        _started(head, "--head", "--port", HEAD.partition(":")[2], "--num-cpus", "0")
        return head

    def worker(self, host: Host | None = None) -> Host:
        """A host that runs one trial at a time; by default a new one."""
        host = host or self.host()
        _started(host, "--address", HEAD, "--num-cpus", "1")
        return host


@contextmanager
def network() -> Iterator[Network]:
    """A network without hosts; all that is made in it ends with the block, whatever happens."""
    _sweep()
    with ExitStack() as stack:
        yield Network(stack)


class Desk(Place):
    """A folder on a host, from which ``clar-tune`` is started."""

    def __init__(self, host: Host, folder: Path, space: str) -> None:
        super().__init__(folder, space)
        self.host = host

    def _command(self, *words: str) -> list[str]:
        # nsenter passes no signal on, but what it started goes with it.
        inside = ("setpriv", "--pdeathsig", "KILL", "env", f"--chdir={self.folder}", CLAR_TUNE)
        return self.host.command(*inside, *words)

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), **self.host.environment()}


def _started(host: Host, *words: str) -> None:
    """Ray waits a minute for its own processes; on a busy machine that may be too short."""
    for _ in range(TRIES):
        done = host.ray(*words)
        if done.code == 0:
            return
        host.kill()
        host.boot()
    raise AssertionError(done.out + done.err)


def command_line(process: psutil.Process) -> str:
    """Of a process that may just have ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def eventually(moment: Callable[[], object], what: str) -> None:
    """Return when something has happened; fail if it does not."""
    until = time.monotonic() + PATIENCE
    while not moment():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.2)


def _sweep() -> None:
    """Remove what is left of test processes that were killed: empty namespaces."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    for name in re.findall(r"^clar-\d+-\S+", listed.stdout, re.MULTILINE):
        if not Path("/proc", name.split("-")[1]).exists():
            # Another test process may have been quicker.
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
