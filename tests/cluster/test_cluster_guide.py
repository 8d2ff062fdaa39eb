"""Every command of the guide to clusters is executed, in its order, on hosts of their own.

Which lines there are is read from the pages, so that a command nobody executes fails here. It is
changed in places that a reader fills in too (``HEAD``, ``NAME``, ``…``), and options are appended
that make it small. The commands of Ray's launcher are executed in ``test_cluster_launch.py``.
"""

import json
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import psutil
import pytest
from support.commands import Going
from support.hosts import network
from support.machines import Machine, Office, bucket, furnish, missing_for_ssh, open_ssh, said
from support.pages import fenced, inline, section

from benchmarks.s3_server import ACCESS_KEY, SECRET_KEY

GUIDE, STORES = "docs/CLUSTER.md", ("docs/STORE.md", "A bucket as a store")
STORE = "s3://bucket/results"
LAUNCHER = re.compile(r"ray (up|dashboard|attach|monitor|down)\b")
TRIALS, FINALS = 24, 20
LONG = (
    f"--graphs texas --methods gcn,gcn+clar --trials {TRIALS} --repeats 9 --finals {FINALS} "
    "--no-ablation --engine torch"
)
"""Far from its end when it is looked at and stopped, however fast the machine is."""

SMALLER = "--trials 1 --repeats 1 --finals 1"


@dataclass(frozen=True)
class Stage:
    """The machines that the pages speak of; nothing runs on them so far."""

    office: Office
    laptop: Machine
    head: Machine
    workers: tuple[Machine, Machine]
    visitor: Machine
    open: ExitStack


@pytest.fixture(scope="module")
def stage(tmp_path_factory, data_folder) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("guide")
    for graph in ("texas", "chameleon"):
        shutil.copytree(data_folder / graph, folder / "data" / graph)
    with network() as net, ExitStack() as stack:
        office = Office(net, folder)
        head, first, second, laptop, visitor = (office.machine() for _ in range(5))
        open_ssh(laptop, head)
        endpoint = stack.enter_context(bucket(head, laptop))
        for machine in (head, laptop, visitor):
            machine.exported.update(AWS_ENDPOINT_URL=endpoint, CLAR_TUNE_DATA=f"{folder}/data")
        yield Stage(office, laptop, head, (first, second), visitor, stack)


def make_an_environment(stage: Stage, line: str) -> None:
    said(stage.laptop, line)
    furnish(stage.laptop, f"{stage.office.project}/.venv")


def install(stage: Stage, line: str) -> None:
    said(stage.laptop, line, "Successfully installed clar-tune")
    said(stage.laptop, "command -v clar-tune", f"{stage.office.project}/.venv/bin/clar-tune")


def make_a_token(stage: Stage, line: str) -> None:
    """It is then brought to the machines of the cluster, as the page wants it."""
    said(stage.laptop, line)
    said(stage.laptop, "stat --format %a ~/.ray/auth_token", "600")
    token = stage.laptop.read(".ray/auth_token")
    assert len(token) == 64
    for machine in (stage.head, *stage.workers):
        machine.write(".ray/auth_token", token)


def start_the_head(stage: Stage, line: str) -> None:
    said(stage.head, line, "Ray runtime started")


def start_a_worker(stage: Stage, line: str) -> None:
    said(stage.workers[0], line.replace("HEAD", stage.head.address), "Ray runtime started")


def open_a_tunnel(stage: Stage, line: str) -> None:
    command = line.replace("HEAD", stage.head.address)
    going = stage.open.enter_context(stage.laptop.started(command))
    going.wait_for(lambda: stage.laptop.answers(8265), "the tunnel")


def see_that_all_is_well(stage: Stage, line: str) -> None:
    words = (
        f"store: {STORE} holds 0 runs",
        "a wrong one is refused",
        "the head, versions as here",
    )
    found = said(stage.head, line, *words, f"node {stage.workers[0].host.name}")
    assert not re.search(r"^(?!ok )", found.strip(), re.MULTILINE), found


def submit(stage: Stage, line: str) -> None:
    """On a worker that has a GPU as far as Ray is concerned; there are no quarters of none.

    It is one more worker, because ``doctor`` would rightly complain about its GPU.
    """
    join = next(command for command in STEPS if "ray start --address" in command)
    join = join.replace("HEAD", stage.head.address)
    said(stage.workers[1], f"{join} --num-gpus 1", "Ray runtime started")
    said(stage.laptop, f"{line} {LONG}", "submitted as job het to http://127.0.0.1:8265")


def see_it_run(stage: Stage, line: str) -> None:
    said(stage.laptop, line, "het  run  running")


def look_on(stage: Stage, line: str) -> None:
    """Until Ctrl-C, which does not end the run."""
    with stage.laptop.started(line) as going:
        going.wait_for(lambda: "studies confirmed" in going.out.read_text(), "progress")
        press_ctrl_c(going)
        assert going.end().code == 130
    see_it_run(stage, "clar-tune status het")


def press_ctrl_c(going: Going) -> None:
    """To the command itself: what brought it to its host would not pass it on."""
    (command,) = (process for process in going.tree() if not process.children())
    assert isinstance(command, psutil.Process)
    command.send_signal(signal.SIGINT)


def stop(stage: Stage, line: str) -> None:
    said(stage.laptop, line, "het has ended (stopped)")


def go_on(stage: Stage, line: str) -> None:
    said(stage.laptop, line, "submitted as job het.2")
    said(stage.laptop, "clar-tune logs het --follow", "Test accuracy in %")


def estimate(stage: Stage, line: str) -> None:
    """It says what the page shows of it."""
    found = said(stage.laptop, line)
    shown = section(GUIDE).partition(f"$ {line}\n")[2].partition("```")[0]
    assert shown.count("\n") == 5
    for row in shown.splitlines():
        wanted = r"\s+".join(".*" if word == "…" else re.escape(word) for word in row.split())
        assert re.search(wanted, found), f"{row}\n{found}"


STEPS: dict[str, Callable[[Stage, str], None]] = {
    "python3 -m venv .venv && . .venv/bin/activate": make_an_environment,
    "PIP_CONSTRAINT=constraints.txt pip install .": install,
    "ray get-auth-token --generate >/dev/null && chmod 600 ~/.ray/auth_token": make_a_token,
    "RAY_AUTH_MODE=token ray start --head --port 6379 --num-cpus 0 --num-gpus 0": start_the_head,
    "RAY_AUTH_MODE=token ray start --address HEAD:6379": start_a_worker,
    "ssh -N -L 8265:127.0.0.1:8265 HEAD": open_a_tunnel,
    f"clar-tune doctor --address auto --store {STORE}": see_that_all_is_well,
    f"clar-tune submit run --space heterophily --name het --store {STORE} --gpus-per-trial 0.25": (
        submit
    ),
    "clar-tune status het": see_it_run,
    "clar-tune logs het --follow": look_on,
    "clar-tune stop het --wait": stop,
    f"clar-tune submit resume het --store {STORE}": go_on,
    "clar-tune run --space heterophily --graphs texas,chameleon --dry-run": estimate,
}


def read_results(stage: Stage, line: str) -> None:
    """And the other commands that the sentence names."""
    said(stage.laptop, line, "gcn+clar", "texas")
    said(stage.laptop, f"clar-tune show het --store {STORE}", "het: finished")
    count = "clar-tune query 'SELECT count(*) AS n FROM finals' --format json"
    assert json.loads(said(stage.laptop, f"{count} --store {STORE}")) == [{"n": 2 * FINALS}]
    said(stage.laptop, f"clar-tune report --store {STORE} --out /tmp/report.html")
    assert "gcn+clar" in stage.laptop.read("report.html")


def read_the_log(stage: Stage, line: str) -> None:
    every = f"{2 * FINALS}/{2 * FINALS} finals"
    said(stage.laptop, line, every, "trials asked for a GPU, and torch saw none when")


def see_what_is_stored(stage: Stage, line: str) -> None:
    begun = f"2 of 2 studies begun, {2 * TRIALS} trials and {2 * FINALS} finals"
    said(stage.laptop, line, "het  resume  succeeded", begun)


def show(stage: Stage, line: str) -> None:
    said(stage.laptop, line.replace("…", STORE), "het: finished, 2 of 2 studies", "retries")


def see_the_machines(stage: Stage, line: str) -> None:
    """Two workers of all processors and a GPU; the head has none."""
    found = said(stage.head, line, "0.0/1.0 GPU")
    assert len(re.findall(r"^ 1 node_", found, re.MULTILINE)) == 3


def run_on_the_head(stage: Stage, line: str) -> None:
    methods = "--graphs texas --methods gcn,gcn+clar --no-ablation"
    filled = line.replace("…", f"--space heterophily --store {STORE} --name here {methods}")
    said(stage.head, f"{filled} {SMALLER}", f"run here in {STORE}", "Test accuracy in %")


def put_gpus_to_the_test(stage: Stage, line: str) -> None:
    """Of which this machine has none."""
    done = stage.laptop.run(line)
    assert done.code == 1
    assert "no machine of the cluster has a GPU" in done.err


def ask_for_memory(stage: Stage, line: str) -> None:
    said(stage.laptop, f"{line.replace('NAME', 'texas')} --methods gcn,gcn+clar", "0.5 GiB")


INLINE: dict[str, Callable[[Stage, str], None]] = {
    f"clar-tune compare --store {STORE}": read_results,
    "clar-tune logs het": read_the_log,
    f"clar-tune status het --store {STORE}": see_what_is_stored,
    "clar-tune show het --store …": show,
    "RAY_AUTH_MODE=token ray status": see_the_machines,
    "clar-tune run … --address auto": run_on_the_head,
    "clar-tune doctor --gpu --gpus-per-trial 0.25": put_gpus_to_the_test,
    "clar-tune run --space all --graphs NAME --dry-run": ask_for_memory,
}

REPEATED = {
    "clar-tune stop het --wait": "clar-tune stop het --wait",
    "clar-tune submit resume het --store …": f"clar-tune submit resume het --store {STORE}",
}
"""What sentences say again, and the line of a block that it is."""

NAMES = {"clar-tune resume", "clar-tune submit resume", "ray start"}
"""Commands that are spoken of without what they want to be told."""


def take_credentials(stage: Stage, line: str) -> None:
    """Of the environment: this machine has no file with any."""
    assert stage.visitor.host.run("ls", "/tmp/.aws").out == ""
    for secret in (ACCESS_KEY, SECRET_KEY):
        line = line.replace("…", secret, 1)
    names = re.findall(r"(AWS_\w+)=", line)
    told = said(stage.visitor, f"{line}; env").splitlines()
    stage.visitor.exported.update(
        dict(entry.split("=", 1) for entry in told if entry.startswith(tuple(names)))
    )


def run_with_a_bucket(stage: Stage, line: str) -> None:
    small = f"{SMALLER} --graphs csbm-homophily --methods gcn,gcn+clar"
    said(stage.visitor, f"{line} {small}", "in s3://bucket/folder", "Test accuracy in %")


IN_STORES: dict[str, Callable[[Stage, str], None]] = {
    "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=eu-central-1": take_credentials,
    "clar-tune run --space quickstart --store s3://bucket/folder": run_with_a_bucket,
}


def test_every_command_has_a_step_and_every_step_a_command():
    """Without hosts, too: those of the launcher are counted where they are executed."""
    shown = [line for line in fenced(GUIDE) if not LAUNCHER.match(line)]
    spoken_of = {line for line in inline(GUIDE) if not LAUNCHER.match(line)}
    assert shown == list(STEPS)
    assert spoken_of == INLINE.keys() | REPEATED.keys() | NAMES
    assert set(REPEATED.values()) <= STEPS.keys()
    assert fenced(*STORES) == list(IN_STORES)


ON_HOSTS = [
    pytest.param(steps[line], line, id=line)
    for steps in (STEPS, INLINE, IN_STORES)
    for line in steps
]


@pytest.mark.skipif(missing_for_ssh() is not None, reason=str(missing_for_ssh()))
@pytest.mark.parametrize(("step", "line"), ON_HOSTS)
def test_commands_do_what_the_page_says(stage, step, line):
    step(stage, line)
