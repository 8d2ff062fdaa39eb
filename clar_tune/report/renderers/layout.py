"""What fits beside each other: names in short lines, columns in blocks."""

import re
from collections.abc import Sequence
from itertools import pairwise


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
    """Columns in as few blocks as possible, none wider than ``room``.

    They are of nearly equal size where that takes no further block.
    """
    full = _filled(widths, room)
    each = -(-len(widths) // len(full)) or 1
    starts = range(0, len(widths), each)
    even = [range(start, min(start + each, len(widths))) for start in starts]
    fits = all(sum(widths[column] for column in block) <= room for block in even)
    return even if even and fits else full


def _filled(widths: Sequence[int], room: int) -> list[range]:
    """Columns in blocks that each hold as many as they can, one at least."""
    starts, used = [0], 0
    for column, width in enumerate(widths):
        if used and used + width > room:
            starts, used = [*starts, column], 0
        used += width
    return [range(*ends) for ends in pairwise((*starts, len(widths)))]
