"""The working directory that travels with a submitted run."""

import importlib.util
import json
import logging
import os
import sysconfig
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pathspec import PathSpec

from clar_tune.cluster.ray_internals import JOB
from clar_tune.errors import ClusterError
from clar_tune.models import Method

LIMIT = 100 * 2**20
"""Bytes that Ray's dashboard takes at once."""

STAYS = (
    ".?*",  # hidden: repositories, environments, caches, secrets
    *("*.pem", "*.key", "id_rsa*", "id_ecdsa*", "id_ed25519*", "auth_token"),
    *("credentials", "credentials.*"),
    *("venv/", "__pycache__/", "/clar-store/", "/datasets/", "*.parquet"),
)
"""What never travels, as patterns of a .gitignore; those of the user's own count too."""

Rule = Callable[[Path], bool]


@contextmanager
def packed(folder: Path, needed: Sequence[Path]) -> Iterator[Path]:
    """An archive of a folder, without results, graphs and secrets; it goes with the block.

    Ray would pack it by itself, but copies whatever is there before it looks at the size, and
    does not tell what it leaves out.

    Args:
        folder: The working directory.
        needed: Files and folders, relative to it, without which the run cannot start.
    """
    stays = [*STAYS, *_stores(folder), *_graphs(folder)]
    with TemporaryDirectory(prefix="clar-tune-") as scratch:
        archive = Path(scratch) / "working-directory.zip"
        names = _pack(folder, archive, _rule(folder, stays))
        for file in needed:
            if not any(file in (name, *name.parents) for name in names):
                raise ClusterError(
                    f"{file} would stay behind: it is hidden, or a .gitignore or .rayignore of "
                    f"{folder} names it. Take it out of there, or move it."
                )
        yield archive


@contextmanager
def silenced() -> Iterator[None]:
    """Ray's advice is for its own users."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _pack(folder: Path, archive: Path, stays: Rule) -> set[Path]:
    """Write the archive; the files in it."""
    names = set()
    with (
        archive.open("wb") as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as opened,
    ):
        for file in _travelling(folder, [stays]):
            name = file.relative_to(folder)
            try:
                if file.stat().st_size < 10 * LIMIT:
                    opened.write(file, name)
                if file.stat().st_size >= 10 * LIMIT or stream.tell() >= LIMIT:
                    raise _too_large(folder, name)
            except OSError as error:
                raise ClusterError(f"{file} cannot be packed ({error.strerror}).") from error
            names.add(name)
    return names


def _travelling(folder: Path, rules: list[Rule]) -> Iterator[Path]:
    """Files below a folder that no rule excludes; a folder may bring rules of its own."""
    try:
        rules = [*rules, *_rules_in(folder)]
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise ClusterError(
            f"{folder} cannot be packed ({error.strerror}). If the run does not need it, write "
            f"{folder.name!r} into a .rayignore beside it."
        ) from error
    for path in inside:
        if any(rule(path) for rule in rules):
            continue
        if path.is_file():
            yield path
        elif path.is_dir() and path.resolve() not in path.absolute().parents:  # no circles
            yield from _travelling(path, rules)


def _rules_in(folder: Path) -> list[Rule]:
    """What a folder's own .gitignore and .rayignore exclude."""
    files = (folder / name for name in (".gitignore", ".rayignore"))
    return [_rule(folder, file.read_text().splitlines()) for file in files if file.is_file()]


def _rule(folder: Path, patterns: Iterable[str]) -> Rule:
    """Whether patterns of a .gitignore in a folder exclude a path below it."""
    spec = PathSpec.from_lines("gitignore", patterns)
    return lambda path: spec.match_file(path.relative_to(folder))


def _too_large(folder: Path, name: Path) -> ClusterError:
    return ClusterError(
        f"--working-dir {folder} is too large: Ray takes less than {LIMIT / 2**20:.0f} MiB, and "
        f"with {name} it is more. Name what the run does not need in a .rayignore there, or "
        "submit from a folder that holds the space file and your modules alone."
    )


def _stores(folder: Path) -> list[str]:
    """Folders that look like a store, whatever their name."""
    found = {runs.parents[1] for runs in folder.rglob("runs/run=*")} - {folder}
    return [f"/{store.relative_to(folder)}/" for store in sorted(found)]


def _graphs(folder: Path) -> list[str]:
    data = os.environ.get("CLAR_TUNE_DATA")
    path = Path(data).absolute() if data else folder
    return [f"/{path.relative_to(folder)}/"] if folder in path.parents else []


def modules_of(methods: Iterable[Method]) -> list[Path]:
    """The package folder or module file of every backbone and regularizer of the user's own.

    What is installed is not among them: it is installed on the other machines too. Nothing is,
    for a submitted job with which the user's folder or modules travelled already.
    """
    if _travelled():
        return []
    names = [name for method in methods for name in (method.backbone, method.regularizer)]
    own = dict.fromkeys(name.partition(":")[0].partition(".")[0] for name in names if ":" in name)
    places = [_place(name) for name in own]
    return [place for place in places if place is not None and not _installed(place)]


def _travelled() -> bool:
    environment = json.loads(os.environ.get(JOB, "{}")).get("runtime_env") or {}
    return bool(environment.get("working_dir") or environment.get("py_modules"))


def _place(name: str) -> Path | None:
    found = importlib.util.find_spec(name)
    if found is None:
        return None
    if found.submodule_search_locations:
        return Path(next(iter(found.submodule_search_locations))).resolve()
    return Path(found.origin).resolve() if found.has_location and found.origin else None


def _installed(place: Path) -> bool:
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}
    return any(place.is_relative_to(Path(folder).resolve()) for folder in folders)
