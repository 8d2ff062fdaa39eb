"""What a script trains; in one that is written its own values stand here."""

from typing import Any

METHOD = "gcn"
METRIC = "accuracy"
GRAPH: dict[str, Any] = {}
PREPROCESSING: dict[str, Any] = {}
NETWORK: dict[str, Any] = {}
PENALTY: dict[str, Any] = {}
RULES: dict[str, Any] = {}
THREADS = 1
PAIRS: list[tuple[int, int, int, float]] = []
