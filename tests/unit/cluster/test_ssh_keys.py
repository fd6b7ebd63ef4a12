"""The SSH key of a cluster."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from overtone.cluster import ssh_keys
from overtone.cluster.cloud_errors import CloudError

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH's client")


def test_key_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    key = ssh_keys.private_key(tmp_path)
    text = key.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    assert ssh_keys.private_key(tmp_path).read_bytes() == text
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
    assert ssh_keys.public_key(key).startswith("ssh-ed25519 ")
    assert ssh_keys.fingerprint(key).startswith("SHA256:")


def test_two_at_once_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: ssh_keys.private_key(tmp_path).read_bytes(), range(2))
    assert first == second


def test_a_file_that_is_no_key_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hello")
    with pytest.raises(CloudError, match="ssh-keygen failed"):
        ssh_keys.public_key(ssh_keys.private_key(tmp_path))
