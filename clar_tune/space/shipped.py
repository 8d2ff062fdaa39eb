"""Where space files lie, and their names."""

import re
from io import BytesIO, TextIOWrapper
from pathlib import Path

from clar_tune.errors import SpaceError, UnknownName
from clar_tune.space.bounds import MOST_BYTES
from clar_tune.space.model import Space
from clar_tune.space.reader import parse_space

_PACKAGE = Path(__file__).parents[1]
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def load_space(name_or_file: str) -> Space:
    """The space that ships under a name, or that of a file."""
    shipped, file = shipped_spaces(), Path(name_or_file)
    if name_or_file in shipped:
        file = shipped[name_or_file]
    elif file.suffix not in (".yaml", ".yml") and not file.is_file():
        raise UnknownName("space", name_or_file, shipped)
    if not _NAME.fullmatch(file.stem):
        raise SpaceError(
            f"{name_or_file}: a space is named after its file, and {file.stem!r} is no name. "
            "Use small letters, digits and hyphens, with a letter first."
        )
    try:
        text = _text(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SpaceError(f"{name_or_file}: the file cannot be read ({reason}).") from error
    return parse_space(text, file.stem, str(name_or_file))


def _text(file: Path) -> str:
    """The text of a file, of which no more is read than a space may have."""
    with file.open("rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise SpaceError(f"{file}: the file has more than {MOST_BYTES:,} bytes. Shorten it.")
    with TextIOWrapper(BytesIO(content), encoding="utf-8") as decoded:  # ends of lines alike
        return decoded.read()


def shipped_spaces() -> dict[str, Path]:
    """The files of the spaces that ship, by name."""
    folder = _PACKAGE / "search_spaces"  # in a wheel; beside the package in a work tree
    if not folder.is_dir():
        folder = _PACKAGE.parent / "search_spaces"
    return {file.stem: file for file in sorted(folder.glob("*.yaml"))}
