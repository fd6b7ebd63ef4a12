"""The shell command that writes a token on a node."""

from __future__ import annotations

import subprocess

from overtone.cluster.tokens import install_command


def test_hosts_that_share_a_home_may_write_at_the_same_moment(tmp_path):
    command = install_command(f"{tmp_path}/cluster/token")
    texts = [f"{n}\n".encode() * 20_000 for n in range(4)]
    writers = [subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE) for _ in texts]
    for writer, text in zip(writers, texts, strict=False):
        assert writer.stdin is not None
        writer.stdin.write(text)  # None of them ends before all have begun.
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0] * len(writers)
    assert (tmp_path / "cluster" / "token").read_bytes() in texts
    assert [one.name for one in (tmp_path / "cluster").iterdir()] == ["token"]
    assert (tmp_path / "cluster" / "token").stat().st_mode & 0o777 == 0o600
