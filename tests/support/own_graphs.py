"""Arrays and files of graphs such as a user brings."""

from pathlib import Path
from typing import Any

import numpy as np

NODES = 36


def arrays(**changes: Any) -> dict[str, Any]:
    """Three classes of twelve nodes, each class a ring, joined by some edges; three splits."""
    labels = np.arange(NODES) % 3
    ring = [(node, (node + 3) % NODES) for node in range(NODES)]
    across = [(node, (node + 1) % NODES) for node in range(0, NODES, 4)]
    place = (np.arange(NODES)[:, None] + 7 * np.arange(3)) % NODES
    parts = {"train": place < 12, "val": (place >= 12) & (place < 20), "test": place >= 20}
    features = np.random.default_rng(0).random((NODES, 5)) < 0.3 + 0.4 * np.eye(3, 5)[labels]
    return {
        "x": features.astype(np.float32),
        "edge_index": np.array(ring + across).T,
        "y": labels,
        **{f"{part}_mask": mask for part, mask in parts.items()},
        **changes,
    }


def npz(path: Path, **changes: Any) -> Path:
    """A file of them, without what is changed to None."""
    found = {name: value for name, value in arrays(**changes).items() if value is not None}
    np.savez(path, **found)
    return path
