"""`clar-tune doctor` on a cluster whose machines are not all what they seem."""

import tempfile
from importlib import import_module
from pathlib import Path

import pytest

from clar_tune.cluster import inspection

TOKEN = "0123456789abcdef" * 4


def node(address: str, **resources: float) -> dict:
    return {"NodeManagerAddress": address, "Resources": resources}


def test_a_cluster_open_to_others_is_wrong(monkeypatch):
    monkeypatch.setattr(inspection, "_head_address", lambda: "10.0.0.1:6379")
    monkeypatch.setattr(inspection, "asked", lambda address, metadata: True)
    assert inspection._token([node("127.0.0.1")]).ok
    open_to_others = inspection._token([node("127.0.0.1"), node("10.0.0.2")])
    assert not open_to_others.ok
    assert "RAY_AUTH_MODE=token" in open_to_others.found
    monkeypatch.setattr(inspection, "asked", lambda address, metadata: False)
    assert inspection._token([node("10.0.0.2")]).ok
    monkeypatch.setattr(inspection, "asked", lambda address, metadata: None)
    assert not inspection._token([node("10.0.0.2")]).ok


@pytest.mark.parametrize(
    ("mode", "folder_mode", "ok", "text"),
    [
        (0o600, 0o755, True, "is there"),
        (0o644, 0o700, True, "with mode 644; 600 is safer"),
        (0o644, 0o755, False, "other users can read"),
    ],
)
def test_the_token_file_is_for_its_user_alone(monkeypatch, mode, folder_mode, ok, text):
    token_check = import_module("clar_tune.cli.doctor")._token
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    # Below pytest's own folder everything is closed to others.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        token = Path(folder, "token")
        token.write_text(TOKEN)
        token.chmod(mode)
        Path(folder).chmod(folder_mode)
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
        check = token_check()
        assert (check.ok, text in check.found) == (ok, True), check
        assert TOKEN not in check.found
        token.unlink()
        assert not token_check().ok
