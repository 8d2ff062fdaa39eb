"""Raw results of a part: one line of JSON for each, so that any command can be cut and go on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Results:
    """The rows of one part in one folder; a line that was cut short is no row."""

    def __init__(self, folder: Path, part: str, key: tuple[str, ...]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file, self.key = folder / f"{part}.jsonl", key
        self.rows = list(self._read()) if self.file.exists() else []
        self._known = {self._key_of(row) for row in self.rows}

    def __contains__(self, wanted: Row) -> bool:
        return self._key_of(wanted) in self._known

    def add(self, row: Row) -> None:
        """Store a row before anything follows from it."""
        with self.file.open("a") as lines:
            lines.write(json.dumps(row) + "\n")
        self.rows.append(row)
        self._known.add(self._key_of(row))

    def _key_of(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.key)

    def _read(self) -> Iterator[Row]:
        content = self.file.read_text()
        whole = content[: content.rfind("\n") + 1]
        if whole != content:
            self.file.write_text(whole)
        yield from map(json.loads, whole.splitlines())
