"""What `clar-tune submit` refuses before anything reaches a cluster, and what travels."""

import random
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.commands import SPACE
from support.ray_nodes import free_port

from clar_tune.cli import main
from clar_tune.cli.submit import _with
from clar_tune.cluster import packaging
from clar_tune.errors import ClusterError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a space, from which commands are given."""
    working = tmp_path / "working"
    working.mkdir()
    (working / "space.yaml").write_text(SPACE)
    for name in ("CLAR_TUNE_STORE", "CLAR_TUNE_DATA", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    # Nobody is there: what passes all checks ends with that.
    address = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", address)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(working)
    return working


def submit(*words):
    return CliRunner().invoke(main, ["submit", *words])


RUN = ("run", "--space", "space.yaml")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ((), 2, "Missing argument"),
        (("train", "--graph", "cora"), 2, "'train' is not one of 'run', 'resume', 'extend'"),
        (("run",), 2, "Missing option '--space'"),
        ((*RUN, "--store", "/s", "--trails", "3"), 2, "No such option '--trails'"),
        ((*RUN, "--store", "/s", "--trials", "0"), 2, "0 is not in the range"),
        ((*RUN, "--store", "/s", "--address", "auto"), 2, "--address belongs before the command"),
        ((*RUN, "--store", "/s", "--dry-run"), 2, "use clar-tune run --dry-run"),
        (("extend", "it", "--store", "/s"), 2, "say what to add"),
        (("run", "--space", "quickstrat", "--store", "/s"), 1, "Did you mean 'quickstart'?"),
        ((*RUN, "--store", "/s", "--methods", "gnc"), 1, "gnc"),
        ((*RUN, "--store", "/s", "--gpus-per-trial", "1.5"), 1, "1.5"),
        (
            (*RUN, "--store", "/s", "--name", "No Name"),
            1,
            "'No Name' cannot name a run. Begin with a letter",
        ),
        ((*RUN, "--store", "/s", "--data", "graphs"), 1, "graphs do not travel"),
        (RUN, 1, "where to? Give --store"),
        ((*RUN, "--store", "results"), 1, "'results' would lie in the job's temporary folder"),
        ((*RUN, "--store", "s3://me:hunter2@bucket/x"), 1, "holds credentials"),
        ((*RUN, "--store", "s3://bucket/x?secret_key=hunter2"), 1, "holds credentials"),
        (
            (*RUN, "--store", "s3://bucket/x?endpoint_override=http://me:hunter2@minio:9000"),
            *(1, "holds credentials"),
        ),
        (("resume", "it"), 1, "where to? Give --store"),
        ((*RUN, "--store", "/s"), 1, "nobody answers"),
        (("resume", "it", "--store", "s3://bucket/x"), 1, "ssh -L 8265:localhost:8265"),
        (("--address", "ray://x:1", *RUN, "--store", "/s"), 2, "write http://HOST:PORT"),
    ],
)
def test_what_cannot_work_is_refused_here(folder, words, code, text):
    done = submit(*words)
    assert (done.exit_code, text in done.output) == (code, True), done.output
    assert "hunter2" not in done.output
    assert "Traceback" not in done.output


def test_a_relative_store_of_the_environment_is_refused_too(folder, monkeypatch):
    monkeypatch.setenv("CLAR_TUNE_STORE", "clar-store")
    assert "'clar-store' would lie in the job's temporary folder" in submit(*RUN).output
    monkeypatch.setenv("CLAR_TUNE_STORE", "s3://bucket/x")
    assert "nobody answers" in submit(*RUN).output


def test_a_space_outside_the_working_directory_is_refused(folder):
    (folder / "inner").mkdir()
    done = submit("--working-dir", "inner", *RUN, "--store", "/s")
    assert done.exit_code == 1
    assert "space.yaml lies outside the working directory" in done.output


@pytest.mark.parametrize("name", ["module_elsewhere.py", "package_elsewhere/__init__.py"])
def test_models_outside_the_working_directory_are_refused(folder, tmp_path, monkeypatch, name):
    model = "from torch.nn import Identity\nclass Own(Identity):\n    pass\n"
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(model)
    monkeypatch.syspath_prepend(tmp_path)
    module = name.partition("/")[0].removesuffix(".py")
    (folder / "space.yaml").write_text(SPACE.replace("[gcn, ", f"['{module}:Own', "))
    done = submit(*RUN, "--store", "/s")
    assert done.exit_code == 1
    assert f"{module} lies outside" in done.output.replace(".py", "")
    (tmp_path / name.partition("/")[0]).rename(folder / name.partition("/")[0])
    sys.modules.pop(module)
    assert "nobody answers" in submit(*RUN, "--store", "/s").output


def test_help_of_the_command_behind_it(folder):
    done = submit("resume", "--help")
    assert done.exit_code == 0
    assert "clar-tune submit resume [OPTIONS] RUN" in done.output


def test_an_option_is_replaced_wherever_it_stands():
    words = ["--space", "a.yaml", "--trials", "3", "--space=b.yaml", "--quiet"]
    assert _with(words, "--space", "c.yaml") == ["--space", "c.yaml", "--trials", "3", "--quiet"]


def names_in(folder, *needed):
    with packaging.packed(folder, needed) as archive, zipfile.ZipFile(archive) as opened:
        return {name for name in opened.namelist() if not name.endswith("/")}


def test_results_graphs_and_secrets_stay_here(folder, monkeypatch):
    monkeypatch.setenv("CLAR_TUNE_DATA", str(folder / "raw"))
    stays = (
        *(".git/config", ".env", ".venv/bin/python", "deep/.aws/credentials", "me.pem", "id.key"),
        *("id_rsa", "id_ed25519.pub", "credentials.json"),
        *("venv/lib/x.py", "deep/__pycache__/m.pyc", "clar-store/runs/x", "datasets/cora/x"),
        *(
            "mine/runs/run=one/part.txt",
            "mine/wal/one.log",
            "deep/table.parquet",
            "raw/cora/ind.x",
        ),
        *("ignored/x.py", "heavy.bin"),
    )
    travels = (
        *("space.yaml", "models.py", "deep/more.py", "deep/datasets/reader.py"),
        *("id_features.py", "credentials_model.py"),
    )
    for name in (*stays, *travels):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".gitignore").write_text("ignored/\n")
    (folder / ".rayignore").write_text("heavy.bin\n")
    assert names_in(folder) == set(travels)


def test_a_space_that_would_stay_behind_is_refused(folder):
    (folder / ".gitignore").write_text("space.yaml\n")
    with pytest.raises(ClusterError, match=r"space.yaml would stay behind.*\.gitignore"):
        names_in(folder, folder.relative_to(folder) / "space.yaml")


def test_a_package_that_would_stay_behind_is_refused(folder):
    package = folder.relative_to(folder) / "own"
    (folder / "own").mkdir()
    (folder / "own" / "__init__.py").write_text("")
    assert "own/__init__.py" in names_in(folder, package)
    (folder / ".rayignore").write_text("own/\n")
    with pytest.raises(ClusterError, match=r"own would stay behind"):
        names_in(folder, package)


def test_a_folder_that_cannot_be_read_is_one_clear_line(folder, monkeypatch):
    (folder / "closed").mkdir()
    usual = Path.iterdir

    def closed(path):
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return usual(path)

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(ClusterError, match=r"closed cannot be packed \(Permission denied\)"):
        names_in(folder)
    (folder / ".rayignore").write_text("closed\n")
    assert names_in(folder) == {"space.yaml"}


def test_a_working_directory_that_is_too_large_is_refused(folder, monkeypatch):
    monkeypatch.setattr(packaging, "LIMIT", 2**20)
    (folder / "models.py").write_bytes(bytes(5 * 2**20))  # it packs well
    assert names_in(folder) == {"models.py", "space.yaml"}
    (folder / "noise").write_bytes(random.Random(0).randbytes(2**20))
    with pytest.raises(ClusterError, match=r"less than 1 MiB, and with noise it is more"):
        names_in(folder)
    (folder / "noise").unlink()
    with (folder / "huge").open("wb") as stream:
        stream.truncate(11 * 2**20)
    with pytest.raises(ClusterError, match="with huge it is more"):
        names_in(folder)


def test_a_link_to_a_folder_above_is_no_trap(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "up").symlink_to(folder)
    assert names_in(folder) == {"space.yaml"}
