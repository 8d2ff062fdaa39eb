"""Machines as a reader of the guides has them: hosts with a shell, a home and perhaps SSH.

Nothing is in their environment but what a test puts there, and no network is behind them: what
an installation would download is shown to it instead.
"""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import yaml
from support.commands import Done, Going
from support.hosts import Host, Network, missing

from benchmarks.s3_server import ACCESS_KEY, SECRET_KEY, s3_server

ROOT = Path(__file__).parents[2]
PROJECT = (
    *("clar_tune", "search_spaces", "docs/cluster", "cluster.yaml"),
    *("constraints.txt", "pyproject.toml", "README.md", "LICENSE"),
)
HOME = "/tmp"
SSHD = f"""\
HostKey {HOME}/.ssh/host_key
AuthorizedKeysFile {HOME}/.ssh/authorized_keys
PasswordAuthentication no
StrictModes no
"""

CREDENTIALS = f"""\
[default]
aws_access_key_id = {ACCESS_KEY}
aws_secret_access_key = {SECRET_KEY}
"""

RAY = """\
#!{python}
import sys
from ray.scripts.scripts import main
if sys.argv[1:2] == ["stop"]:
    sys.exit("these hosts do not run `ray stop`: it ends whatever Ray it sees")
main()
"""
"""What pip would install, but for one command."""


def missing_for_ssh() -> str | None:
    """Why no machine can be reached by SSH here, or nothing."""
    tools = [name for name in ("sshd", "ssh", "ssh-keygen", "rsync") if not shutil.which(name)]
    if tools:
        return f"{', '.join(tools)} (Debian: openssh-server, openssh-client, rsync) not here"
    return missing()


class Machine:
    """A host on which somebody types commands, in one folder."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host, self.folder, self.address = host, folder, host.address
        self.exported = dict[str, str]()
        self._started = 0
        host.run("ip", "route", "add", "default", "dev", "eth0")
        self._move_in()
        host.run("mkdir", f"{HOME}/bin")
        host.run("ln", "-s", sys._base_executable, f"{HOME}/bin/python3")
        self.write(".bashrc", 'export PATH="$HOME/bin:$PATH"\n')

    def write(self, name: str, text: str) -> None:
        """A file in the home that only its owner reads."""
        self.host.run("mkdir", "-p", str(Path(HOME, name).parent))
        self.host.write(f"{HOME}/{name}", text)

    def read(self, name: str) -> str:
        """A file in the home."""
        return self.host.run("cat", f"{HOME}/{name}").out

    def answers(self, port: int) -> bool:
        """Whether somebody listens there on loopback."""
        return self.host.run("bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}").code == 0

    def run(self, line: str, typed: str = "") -> Done:
        """A line from its start to its end."""
        with self.started(line, typed) as going:
            return going.end()

    @contextmanager
    def started(self, line: str, typed: str = "") -> Iterator[Going]:
        """A line at work, in the folder's environment once there is one; ended with the block."""
        self._started += 1
        files = [
            self.folder.parent / f"{self.host.name}-{self._started}.{name}"
            for name in ("in", "out", "err")
        ]
        files[0].write_text(typed)
        made = "if [ -e .venv/bin/activate ]; then . .venv/bin/activate; fi\n"
        with files[0].open() as stdin, files[1].open("w") as out, files[2].open("w") as err:
            process = subprocess.Popen(
                self.host.command(
                    *("setpriv", "--pdeathsig", "KILL", "env", f"--chdir={self.folder}"),
                    *("bash", "-c", f"{made}{line}"),
                ),
                env=self._environment(),
                stdin=stdin,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        try:
            yield Going(process, files[1], files[2])
        finally:
            process.kill()
            process.wait()

    def _move_in(self) -> None:
        """Have the system say where the home is, which SSH asks instead of ``$HOME``."""
        users = Path("/etc/passwd").read_text()
        ours = re.sub(r"^root:(.*):[^:]*:[^:]*$", rf"root:\1:{HOME}:/bin/bash", users, flags=re.M)
        self.host.write(f"{HOME}/passwd", ours)
        self.host.run("chmod", "644", f"{HOME}/passwd")
        self.host.run("mount", "--bind", f"{HOME}/passwd", "/etc/passwd")

    def _environment(self) -> dict[str, str]:
        path = f"{HOME}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        bare = {"HOME": HOME, "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"}
        return {**bare, "RAY_USAGE_STATS_ENABLED": "0", **self.exported}


class Office:
    """Machines of one network that see one folder: the project, and beside it what pip wants."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.network, self.folder, self.project = network, folder, folder / "project"
        for name in PROJECT:
            _copied(ROOT / name, self.project / name)
        shutil.copytree(wheels_for_the_build(), folder / "wheels")

    def machine(self) -> Machine:
        """One more machine."""
        machine = Machine(self.network.host(shared=self.folder), self.project)
        offline = f"[global]\nno-index = true\nfind-links = {self.folder / 'wheels'}\n"
        machine.write(".config/pip/pip.conf", offline)
        return machine


@cache
def wheels_for_the_build() -> Path:
    """What builds the project, in the pinned versions: pip fetches it in every installation."""
    folder = Path(tempfile.mkdtemp(prefix="wheels-"))
    atexit.register(shutil.rmtree, folder)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder]
        + [*project["build-system"]["requires"], "setuptools"],  # new environments have an old one
        env={**os.environ, "PIP_CONSTRAINT": str(ROOT / "constraints.txt")},
        check=True,
        capture_output=True,
    )
    return folder


def furnish(machine: Machine, environment: str) -> None:
    """Show an environment the packages of this one, so that pip downloads none; and ``ray``."""
    python, packages = f"{environment}/bin/python", Path(yaml.__file__).parent.parent
    found = machine.run(f"{python} -c 'import site; print(site.getsitepackages()[0])'").out.strip()
    machine.host.write(f"{found}/here.pth", f"{packages}\n")
    machine.host.write(f"{environment}/bin/ray", RAY.format(python=python))
    machine.host.run("chmod", "755", f"{environment}/bin/ray")


def open_ssh(owner: Machine, *reached: Machine) -> None:
    """Let one machine into others, by a key that it makes."""
    owner.host.run("mkdir", "-p", f"{HOME}/.ssh")
    owner.run("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519")
    key, known = owner.read(".ssh/id_ed25519.pub"), list[str]()
    for machine in reached:
        machine.write(".ssh/authorized_keys", key)
        machine.write("sshd.conf", SSHD)
        machine.host.run("mount", "-t", "tmpfs", "none", "/run")
        machine.host.run("mkdir", "/run/sshd")
        machine.run(f"ssh-keygen -q -t ed25519 -N '' -f {HOME}/.ssh/host_key")
        done = machine.run(f"{shutil.which('sshd')} -f {HOME}/sshd.conf")
        assert done.code == 0, done.err
        known.append(f"{machine.address} {machine.read('.ssh/host_key.pub')}")
    owner.write(".ssh/known_hosts", "".join(known))


def _copied(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def said(machine: Machine, line: str, *words: str) -> str:
    """Execute a line, which succeeds and says some words; returns all that it says."""
    done = machine.run(line)
    assert done.code == 0, f"{line}\n{done.out}{done.err}"
    for word in words:
        assert word in done.out + done.err, f"{line}\n{done.out}{done.err}"
    return done.out


@contextmanager
def bucket(machine: Machine, *others: Machine) -> Iterator[str]:
    """The endpoint of a server on a machine, whose one bucket some may use by their files."""
    for user in (machine, *others):
        user.write(".aws/credentials", CREDENTIALS)
        user.write(".aws/config", "[default]\nregion = eu-central-1\n")
    with s3_server(machine.address, "bucket", machine.host.command) as server:
        yield server.endpoint
