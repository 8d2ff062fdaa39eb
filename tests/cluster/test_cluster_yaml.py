"""The files for Ray's cluster launcher: valid, and every command in them works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ray.autoscaler._private.command_runner import (
    _with_environment_variables,
    _with_interactive,
)
from ray.autoscaler._private.constants import RESOURCES_ENVIRONMENT_VARIABLE as RESOURCES
from ray.autoscaler._private.util import prepare_config, validate_config, with_head_node_ip
from support.hosts import RAY, Host, eventually, missing, network
from support.pages import ROOT

FILES = ("cluster.yaml", "docs/cluster/on-premise.yaml", "docs/cluster/cpu-only.yaml")
STARTS = ("head_start_ray_commands", "worker_start_ray_commands")
SETUPS = ("setup_commands", "head_setup_commands")


def content(file: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / file).read_text())
    return found


@pytest.mark.parametrize("file", FILES)
def test_ray_takes_the_file(file):
    validate_config(prepare_config(content(file)))


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("typo", [{"idle_timeout_minute": 5}, {"rsync_exclude": "store"}])
def test_ray_refuses_a_typo(file, typo):
    with pytest.raises(jsonschema.ValidationError):
        validate_config(prepare_config({**content(file), **typo}))


@pytest.mark.parametrize("file", FILES)
def test_the_head_runs_no_trials_and_workers_come_from_zero(file):
    config = prepare_config(content(file))
    assert "--num-cpus=0 --num-gpus=0" in config["head_start_ray_commands"][1]
    if config["provider"]["type"] == "local":
        assert config["max_workers"] == len(config["provider"]["worker_ips"])
        return
    types = config["available_node_types"]
    assert types["head"]["resources"] == {"CPU": 0, "GPU": 0}
    assert types["head"]["max_workers"] == 0
    assert types["worker"]["min_workers"] == 0 < types["worker"]["max_workers"]


@pytest.mark.parametrize("file", FILES)
def test_every_node_wants_the_token_and_no_file_holds_one(file):
    text, config = (ROOT / file).read_text(), content(file)
    assert config["file_mounts"]["~/.ray/auth_token"] == "~/.ray/auth_token"
    for key in STARTS:
        stop, start = config[key]
        assert stop == "ray stop"
        assert "RAY_AUTH_MODE=token" in start and "RAY_USAGE_STATS_ENABLED=0" in start
        assert "--dashboard-host" not in start  # Ray's default is loopback: see test_hosts.py
    assert "RAY_AUTH_TOKEN=" not in text


def test_start_commands_are_the_same_everywhere():
    """So that executing those of one file is enough, and of the other in test_cluster_launch.py.

    That other wants Ray's first autoscaler: the second does not find a head that it did not start.
    """
    older = " RAY_enable_autoscaler_v2=0"
    assert older in content("docs/cluster/on-premise.yaml")["head_start_ray_commands"][1]
    for key in STARTS:
        commands = [[line.replace(older, "") for line in content(file)[key]] for file in FILES]
        assert commands[0] == commands[1] == commands[2]


def as_ray_does(command: str) -> str:
    """The line that the launcher hands to a machine's shell."""
    return " ".join(_with_interactive(command))


def synced(home: Path, config: dict[str, Any]) -> None:
    """A machine's home as the launcher leaves it before any command."""
    for remote, local in config["file_mounts"].items():
        target = home / remote.removeprefix("~/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if remote == "~/.ray/auth_token":
            target.write_text("secret")
        elif (ROOT / local).is_dir():
            kept = shutil.ignore_patterns(*config["rsync_exclude"])
            shutil.copytree(ROOT / local, target, ignore=kept, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / local, target)


def done_at(home: Path, command: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "VIRTUAL"))}
    done = subprocess.run(
        as_ray_does(command),
        shell=True,
        # Without a network pip would try every index for a quarter of a minute per package.
        env={**environment, "HOME": str(home), "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": "15"},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """The home of a machine on which the set-up commands of all files were executed, each once.

    They are executed as they are. What they would download is here already: the environment
    that they make is shown the packages of this one, among which pip finds all it wants.
    """
    home, executed = tmp_path_factory.mktemp("home"), list[str]()
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to(sys._base_executable)
    (home / ".bashrc").write_text('export PATH="$HOME/bin:$PATH"\n')  # the image's Python
    for config in map(content, FILES):
        synced(home, config)
        for command in [command for key in SETUPS for command in config.get(key, ())]:
            if command not in executed:
                done_at(home, command)
                executed.append(command)
            for packages in home.glob("clar-tune-venv/lib/*/site-packages"):
                (packages / "here.pth").write_text(f"{Path(yaml.__file__).parent.parent}\n")
    return home


def test_set_up_commands_install_the_project(home):
    venv = home / "clar-tune-venv"
    found = done_at(
        home, "command -v clar-tune ray; echo mode $RAY_AUTH_MODE; clar-tune --version"
    )
    assert str(venv / "bin" / "clar-tune") in found and "mode token" in found
    installed = 'python -c "import clar_tune; print(clar_tune.__file__)"'
    assert done_at(home, installed).strip().startswith(str(venv))
    assert (home / ".ray" / "auth_token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("file", FILES)
def test_the_last_set_up_command_may_be_repeated(home, file):
    before = (home / ".bashrc").read_text()
    done_at(home, content(file)["setup_commands"][-1])
    assert (home / ".bashrc").read_text() == before


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_start_commands_make_a_cluster_of_two():
    """All but `ray stop`, which ends the Ray of a machine; a new one has none to be ended.

    The launcher's own settings are exported as it does that, with a configuration for the
    head's autoscaler that knows no machines: it would want to start some.
    """
    config = content("cluster.yaml")
    start_head, start_worker = (config[key][1] for key in STARTS)
    resources = config["available_node_types"]["head"]["resources"]
    with network() as net:
        head, worker = net.host(), net.host()
        for host in (head, worker):
            host.run("ip", "route", "add", "default", "dev", "eth0")
            host.run("mkdir", "/tmp/.ray")
            host.run("mv", "/tmp/token", "/tmp/.ray/auth_token")
            host.write("/tmp/.bashrc", f'export PATH="{RAY.parent}:$PATH"')
        nobody = {"provider": {"type": "local", "head_ip": head.address, "worker_ips": []}}
        alone = prepare_config({"cluster_name": "alone", "auth": {}, **nobody})
        head.write("/tmp/ray_bootstrap_config.yaml", json.dumps(alone))
        shell(head, _with_environment_variables(start_head, {RESOURCES: resources}))
        shell(worker, *with_head_node_ip([start_worker], head.address))
        nodes = 'import ray; ray.init(address="auto", logging_level=50); print(ray.nodes())'
        eventually(lambda: shell(head, f"python -c '{nodes}'").count("'Alive': True") == 2, "both")
        cpus = re.findall(r"'CPU': ([\d.]+)", shell(head, f"python -c '{nodes}'"))
        assert [float(count) for count in cpus] == [
            float(shell(worker, "getconf _NPROCESSORS_ONLN"))
        ]
        listening = head.run("ss", "-ltnH", "sport = :8265").out.split()
        assert listening[3::5] == ["127.0.0.1:8265"]


def shell(host: Host, command: str) -> str:
    """What the launcher would run there, in an environment without any of Ray's settings."""
    bare = {"HOME": "/tmp", "PATH": os.environ["PATH"]}
    done = host.run("sh", "-c", as_ray_does(command), environment=bare)
    assert done.code == 0, f"{command}\n{done.out}{done.err}"
    return done.out
