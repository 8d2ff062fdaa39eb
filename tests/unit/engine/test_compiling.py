"""Where compiled programs are kept: a changed source, other people's folders, read-only ones."""

import errno
import importlib
import os
import resource
import sys
import warnings
from pathlib import Path

import numba
import platformdirs
import pytest

from clar_tune.engine import compiling
from clar_tune.engine.compiling import SOURCES, Program, Sources, cache_folder, digest

MAIN = """
from {helper} import helper

def add(x):
    return helper(x)
"""
HELPER = """
from clar_tune.engine.compiling import kernel

@kernel
def helper(x):
    return x + {number}
"""


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A package of two files, and a cache of its own."""
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR")  # that of all other tests
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files of one second look alike
    return tmp_path


def loaded(place: Path, number: int) -> Program:
    """The program of both files as they are now, as a fresh process would load it."""
    return prepared(imported(place, number))


def imported(place: Path, number: int) -> Program:
    """The program of both files, not yet compiled or loaded."""
    write(place, number)
    for name in ("a_helper", "a_main"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return named("add", place)


def write(place: Path, number: int) -> None:
    (place / "a_helper.py").write_text(HELPER.format(number=number))
    (place / "a_main.py").write_text(MAIN.format(helper="a_helper"))


def named(name: str, place: Path) -> Program:
    """A program of the files as they are."""
    sources = Sources([place / "a_helper.py", place / "a_main.py"])
    return Program(importlib.import_module("a_main").add, name, sources)


def prepared(program: Program) -> Program:
    program.prepare(lambda call: call(1))
    return program


def stored() -> list[Path]:
    return [file for file in cache_folder().iterdir() if file.suffix != ".lock"]


def test_an_edited_helper_does_not_return_the_old_number(place):
    assert loaded(place, 1).call(10) == 11
    assert loaded(place, 2).call(10) == 12
    assert loaded(place, 1).call(10) == 11
    assert len(stored()) == 2


def test_a_source_that_was_edited_after_it_was_imported_is_not_kept_as_the_new_one(place):
    old = imported(place, 1)
    write(place, 100)
    assert prepared(old).call(10) == 11  # as it was imported
    assert stored() == []
    assert loaded(place, 100).call(10) == 110
    assert prepared(imported(place, 1)).call(10) == 11


def test_what_was_compiled_is_loaded(place, monkeypatch):
    loaded(place, 1)
    monkeypatch.setattr(numba.core.compiler, "compile_extra", None)  # nothing can be compiled
    assert loaded(place, 1).call(10) == 11


def test_a_change_of_anything_gives_another_name(monkeypatch):
    files = SOURCES.files
    name = digest(files)
    assert SOURCES.digest == name and SOURCES.unchanged
    assert digest(files[:-1]) != name
    monkeypatch.setattr(compiling, "TARGET", "another")
    assert digest(files) != name and not SOURCES.unchanged
    monkeypatch.undo()
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert digest(files) != name


def test_the_folder_is_below_the_one_that_numba_was_given(place, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place / "own"))
    assert loaded(place, 1).file.parent == place / "own" / "clar-tune"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")  # as unset
    assert cache_folder() == place / "cache" / "engine"


def test_all_files_of_the_package_are_sources():
    names = {
        file.relative_to(Path(compiling.__file__).parent).as_posix() for file in SOURCES.files
    }
    assert {"sparse.py", "program.py", "networks/gcn.py"} <= names


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(place, mode):
    loaded(place, 1)
    (file,) = stored()
    file.write_bytes(b"not a program")  # as another user could
    cache_folder().chmod(mode)
    with pytest.warns(RuntimeWarning, match="only you can write to"):
        assert loaded(place, 1).call(10) == 11
    assert file.read_bytes() == b"not a program"


def test_a_file_that_others_can_write_to_is_not_believed(place, monkeypatch):
    loaded(place, 1)
    (file,) = stored()
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o664)
    monkeypatch.setattr("pickle.loads", lambda content: pytest.fail("it was believed"))
    assert loaded(place, 1).call(10) == 11
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("left", [0, 10, 1000, -1])
def test_a_damaged_file_is_compiled_anew(place, left):
    loaded(place, 1)
    (file,) = stored()
    whole = file.read_bytes()
    file.write_bytes(whole[:left])
    assert not imported(place, 1).loadable
    assert loaded(place, 1).call(10) == 11
    assert imported(place, 1).loadable and len(file.read_bytes()) == len(whole)


def test_a_full_disk_costs_a_warning(place):
    """A limit to the size of files: what is written beyond it fails as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.warns(RuntimeWarning, match="cannot be written to"):
            assert loaded(place, 1).call(10) == 11
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert stored() == []
    assert loaded(place, 1).call(10) == 11 and len(stored()) == 1


def test_a_file_system_without_locks_costs_a_warning(place, monkeypatch):
    def refuse(file, operation):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.warns(RuntimeWarning, match="cannot be written to"):
        assert loaded(place, 1).call(10) == 11


def test_a_folder_of_another_user_is_not_used(place, monkeypatch):
    loaded(place, 1)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.warns(RuntimeWarning, match="only you can write to"):
        assert loaded(place, 2).call(10) == 12


def make_read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse what a read-only file system would; the root user may write to read-only folders."""
    opened = Path.open

    def only_to_read(path: Path, mode: str = "r", *arguments, **options):
        if path.is_relative_to(folder) and not mode.startswith("r"):
            raise PermissionError(path)
        return opened(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", only_to_read)


def test_a_cache_that_cannot_be_written_to_works_with_one_warning(place, monkeypatch):
    make_read_only(cache_folder(), monkeypatch)
    with pytest.warns(RuntimeWarning) as heard:
        program = loaded(place, 1)
        assert program.call(10) == 11
        assert program.call(11) == 12
    assert len(heard) == 1


def test_a_full_cache_that_cannot_be_written_to_is_read_in_silence(place, monkeypatch):
    loaded(place, 1)
    make_read_only(cache_folder(), monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert prepared(imported(place, 1)).call(10) == 11


def test_one_program_does_not_wait_for_another(place):
    loaded(place, 1)
    first, second = named("first", place), named("second", place)

    def beside(call):
        second.prepare(lambda other: other(1))
        return call(1)

    first.prepare(beside)  # with one lock for both the second would wait for ever
    assert first.loadable and second.loadable


def test_half_a_program_is_never_seen(place):
    def broken(call):
        call(1)
        raise KeyboardInterrupt

    program = imported(place, 1)
    with pytest.raises(KeyboardInterrupt):
        program.prepare(broken)
    assert not program.file.exists()
    assert not [file for file in cache_folder().iterdir() if file.name.endswith(".part")]
