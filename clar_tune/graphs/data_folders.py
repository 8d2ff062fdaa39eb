"""Folders in which a user says that data lie."""

import os
from pathlib import Path

from clar_tune.errors import GraphError


def given_folders(data: Path | None) -> list[Path]:
    """``data`` and $CLAR_TUNE_DATA, as far as they are given; a missing one is refused."""
    named = {"--data": data, "$CLAR_TUNE_DATA": os.environ.get("CLAR_TUNE_DATA")}
    folders = {origin: Path(folder).expanduser() for origin, folder in named.items() if folder}
    for origin, folder in folders.items():
        if not folder.is_dir():
            raise GraphError(f"{origin}: there is no folder {folder}.")
    return list(folders.values())


def find_file(name: str, data: Path | None) -> Path:
    """A user's own file: by its path from here, else below a data folder, also by its last part.

    So a run goes on where its file lies elsewhere; its content is checked by its hash.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path
    for folder in given_folders(data):
        for place in (folder / path, folder / path.name):
            if place.is_file():
                return place
    raise GraphError(
        f"{name}: there is no such file, seen from {Path.cwd()}. Correct its path, or "
        "name the folder that holds it by --data."
    )
