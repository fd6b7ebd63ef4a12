"""Files of ranks on their way to their head."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.errors import GangError, TrainableError
from overtone.worker.gang.checkpoint_files import IncomingFiles, PlaceOnHost, file_messages
from overtone.worker.gang.wire import CHUNK_BYTES


def test_a_folder_arrives_as_it_was(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep" / "er").mkdir(parents=True)
    target.mkdir()
    (source / "large").write_bytes(b"abc" * CHUNK_BYTES)
    (source / "empty").touch()
    (source / "deep" / "er" / "run.sh").write_text("#!/bin/sh")
    (source / "deep" / "er" / "run.sh").chmod(0o755)
    (source / "link").symlink_to("large")
    (source / "dangling").symlink_to("nowhere")
    incoming = IncomingFiles(target)
    ends = [incoming.take(message) for message in file_messages(source)]
    assert ends == [False] * (len(ends) - 1) + [True]
    assert (target / "large").read_bytes() == (target / "link").read_bytes() == b"abc" * CHUNK_BYTES
    assert (target / "empty").read_bytes() == b""
    assert (target / "deep" / "er" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert not (target / "dangling").exists()


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "deep/../../outside"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(GangError, match="a rank sent a file with the name"):
        IncomingFiles(tmp_path).take(("file", name, 0o644))


def test_a_place_is_here_if_it_is_the_same_file(tmp_path: Path) -> None:
    place = PlaceOnHost.of(tmp_path)
    assert place.is_here()
    tmp_path.rmdir()
    assert not place.is_here()
    with pytest.raises(TrainableError, match="that exists"):
        PlaceOnHost.of(tmp_path)


def test_another_host_is_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = PlaceOnHost.of(tmp_path)
    monkeypatch.setattr("overtone.worker.gang.checkpoint_files.this_host", lambda: "another")
    assert not place.is_here()
