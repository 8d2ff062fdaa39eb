"""What fits beside each other: names in short lines, columns in blocks."""

import re
from collections.abc import Sequence


def header(method: str, room: int) -> tuple[str, ...]:
    """A column's name in short lines.

    It is broken behind signs, and before its regularizer and its condition.
    """
    lines = [""]
    for piece in re.findall(r"[+ ]?[^.:=+ ]*[.:=]?", method):
        for part in (piece[start : start + room] for start in range(0, len(piece), room)):
            if lines[-1] and (part.startswith(("+", " ")) or len(lines[-1] + part) > room):
                lines.append("")
            lines[-1] += part.lstrip()
    return tuple(lines)


def side_by_side(widths: Sequence[int], room: int) -> list[range]:
    """Columns in as few blocks as possible, none wider than ``room``, of nearly equal size."""
    for size in range(len(widths), 0, -1):
        number = -(-len(widths) // size)
        even = -(-len(widths) // number)
        starts = range(0, len(widths), even)
        found = [range(start, min(start + even, len(widths))) for start in starts]
        if size == 1 or all(sum(widths[c] for c in block) <= room for block in found):
            return found
    return [range(0)]
