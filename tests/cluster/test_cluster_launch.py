"""The commands of Ray's launcher, on machines that are reached by SSH as one's own are.

``cluster.yaml`` wants machines of AWS, which no test starts: what README and the guide do with it
is done here with ``docs/cluster/on-premise.yaml``, which is the same but for the provider, the
commands that install Python there, and the autoscaler. Of that file the addresses and the user
are replaced, and ``ray stop`` is left out: it ends whatever Ray it sees.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.hosts import network
from support.machines import (
    HOME,
    Machine,
    Office,
    bucket,
    furnish,
    missing_for_ssh,
    open_ssh,
    said,
)
from support.pages import fenced, inline

README, GUIDE = ("README.md", "On a cluster"), "docs/CLUSTER.md"
STORE = "s3://bucket/results"
LAUNCHER = re.compile(r"ray (up|dashboard|attach|monitor|down)\b")
FILE = "docs/cluster/on-premise.yaml"
SMALL = "--graphs texas --methods gcn,gcn+clar --trials 2 --repeats 1 --finals 1"
NO_GPU = "--gpus-per-trial 0"
VENV = f"{HOME}/clar-tune-venv"


@dataclass(frozen=True)
class Stage:
    """A laptop with the project, and two machines that it may enter."""

    laptop: Machine
    head: Machine
    worker: Machine
    open: ExitStack


@pytest.fixture(scope="module")
def stage(tmp_path_factory, data_folder) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("launch")
    shutil.copytree(data_folder / "texas", folder / "data" / "texas")
    with network() as net, ExitStack() as stack:
        office = Office(net, folder)
        laptop, head, worker = (office.machine() for _ in range(3))
        open_ssh(laptop, head, worker)
        # The set-up commands make it again, which leaves what is in it.
        said(laptop, f"python3 -m venv {VENV}")
        furnish(laptop, VENV)
        said(laptop, f"cp -a {VENV} {folder}/venv")
        for machine in (head, worker):
            said(machine, f"cp -a {folder}/venv {VENV}")
        said(laptop, f"{VENV}/bin/pip install .")
        laptop.exported["PATH"] = f"{VENV}/bin:/usr/bin:/bin"
        endpoint = stack.enter_context(bucket(head, laptop))
        laptop.exported["AWS_ENDPOINT_URL"] = endpoint
        known = f"export AWS_ENDPOINT_URL={endpoint} CLAR_TUNE_DATA={folder}/data\n"
        head.write(".bashrc", head.read(".bashrc") + known)
        fill_in(office.project / FILE, head, worker)
        yield Stage(laptop, head, worker, stack)


def fill_in(file: Path, head: Machine, worker: Machine) -> None:
    """What the file asks its readers to fill in, for one worker."""
    text = file.read_text()
    for ours, example in (
        (head.address, "192.0.2.10"),
        (worker.address, "192.0.2.11, 192.0.2.12"),
        ("min_workers: 1", "min_workers: 2"),
        ("max_workers: 1", "max_workers: 2"),
        ("ssh_user: root", "ssh_user: ubuntu"),
        ("", "  - ray stop\n"),
    ):
        assert example in text
        text = text.replace(example, ours)
    file.write_text(text)


def on_our_machines(line: str) -> str:
    return line.replace(" cluster.yaml", f" {FILE}")


def make_a_token(stage: Stage, line: str) -> None:
    said(stage.laptop, line)
    said(stage.laptop, "stat --format %a ~/.ray/auth_token", "600")


def launch(stage: Stage, line: str) -> None:
    """With what a reader would answer when asked; the token is on the head afterwards."""
    said(stage.laptop, f"{on_our_machines(line)} --yes", "Ray runtime started")
    assert stage.head.read(".ray/auth_token") == stage.laptop.read(".ray/auth_token") != ""


def open_a_tunnel(stage: Stage, line: str) -> None:
    going = stage.open.enter_context(stage.laptop.started(on_our_machines(line)))
    going.wait_for(lambda: stage.laptop.answers(8265), "the tunnel")


def submit(stage: Stage, line: str) -> None:
    """Without GPUs, which these workers do not have."""
    said(stage.laptop, f"{line} {NO_GPU} {SMALL}", "submitted as job het to")


def see_it(stage: Stage, line: str) -> None:
    said(stage.laptop, line, "het  run  running")


def look_on(stage: Stage, line: str) -> None:
    """It waits for the worker, which the head sets up by itself, and then runs to its end."""
    said(stage.laptop, line, "Test accuracy in %", "gcn+clar")
    (raylet,) = stage.worker.host.processes("/raylet ")
    assert f"{VENV}/bin/python" in raylet


def stop(stage: Stage, line: str) -> None:
    said(stage.laptop, line, "het had ended before (succeeded)")


def enter(stage: Stage, line: str) -> None:
    """A shell on the head, in which Ray lets its owner in."""
    typed = "ray status\nhostname\nexit\n"
    done = stage.laptop.run(on_our_machines(line), typed)
    assert done.code == 0, done.err
    assert stage.head.host.name in done.out
    assert re.search(r"/[1-9]\S* CPU", done.out), done.out  # the worker's: the head has none


def watch(stage: Stage, line: str) -> None:
    with stage.laptop.started(on_our_machines(line)) as going:
        going.wait_for(lambda: stage.worker.address in going.out.read_text(), "the worker's name")


def update(stage: Stage, line: str) -> None:
    """Ray on the head is the same as before."""
    before = stage.head.host.processes("gcs_server")
    said(stage.laptop, f"{line} {FILE} --yes")
    assert stage.head.host.processes("gcs_server") == before != []


def take_down(stage: Stage, line: str) -> None:
    """But for `ray stop`, by which it ends Ray on the head: these hosts do not run that."""
    said(stage.laptop, f"{on_our_machines(line)} --yes", "No nodes remaining")


IN_README: dict[str, Callable[[Stage, str], None]] = {
    "ray get-auth-token --generate >/dev/null && chmod 600 ~/.ray/auth_token": make_a_token,
    "ray up cluster.yaml": launch,
    "ray dashboard cluster.yaml": open_a_tunnel,
    f"clar-tune submit run --space heterophily --name het --store {STORE} --gpus-per-trial 0.25": (
        submit
    ),
    "clar-tune status het": see_it,
    "clar-tune logs het --follow": look_on,
    "clar-tune stop het": stop,
}

IN_THE_GUIDE: dict[str, Callable[[Stage, str], None]] = {
    "ray attach cluster.yaml": enter,
    "ray monitor cluster.yaml": watch,
    "ray up --no-restart": update,
    "ray down cluster.yaml": take_down,
}

REPEATED = {"ray up cluster.yaml", "ray dashboard cluster.yaml", f"ray up {FILE}"}
REPEATED |= {f"ray dashboard {FILE}", "ray up"}
"""What the guide says too, and the README's block does."""


def test_every_command_has_a_step_and_every_step_a_command():
    """Without hosts, too."""
    assert fenced(*README) == list(IN_README)
    shown = {line for line in {*fenced(GUIDE), *inline(GUIDE)} if LAUNCHER.match(line)}
    assert shown == IN_THE_GUIDE.keys() | REPEATED


STEPS = {**IN_README, **IN_THE_GUIDE}


@pytest.mark.skipif(missing_for_ssh() is not None, reason=str(missing_for_ssh()))
@pytest.mark.parametrize("line", STEPS)
def test_commands_do_what_the_pages_say(stage, line):
    STEPS[line](stage, line)
