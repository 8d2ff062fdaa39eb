"""No test is gone without a word on where its claim is proved now."""

from collections import Counter
from pathlib import Path

import yaml
from frozen.names import collected

HERE = Path(__file__).parent


def test_every_frozen_test_is_there_or_replaced() -> None:
    frozen = Counter((HERE / "test_ids.txt").read_text().splitlines())
    now = Counter(collected())
    replaced = yaml.safe_load((HERE / "replaced.yaml").read_text()) or {}
    known = {name.partition("[")[0] for name in now}
    for name, heirs in replaced.items():
        assert set(heirs) <= known, f"{name}: no test {set(heirs) - known}"
    gone = [name for name in (frozen - now) if not _is_replaced(name, replaced)]
    assert not gone, "\n".join(gone[:20])


def _is_replaced(name: str, replaced: dict[str, list[str]]) -> bool:
    return name in replaced or name.partition("[")[0] in replaced
