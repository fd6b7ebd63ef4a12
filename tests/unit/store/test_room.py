from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.store.local import LocalStore
from overtone.store.room import is_full, lacks_room, try_for_room


def raised_from(error: OSError) -> StorageError:
    try:
        raise StorageError("cannot be written") from error
    except StorageError as caught:
        return caught


# a real quota needs a file system made for it: the number is what the kernel would answer
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_bytes_inodes_and_quotas_are_room(number: int) -> None:
    error = OSError(number, "no more", "file")
    assert lacks_room(error)
    assert lacks_room(raised_from(error))
    assert lacks_room(shutil.Error([("from", "to", str(error))]))


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, "no"), ValueError("[Errno 28]"), StorageError("x"), None]
)
def test_others_are_not(error: Exception | None) -> None:
    assert not lacks_room(error)


def test_a_disk_with_room_is_not_full(tmp_path: Path) -> None:
    assert not is_full(tmp_path)
    assert not is_full(tmp_path / "missing")


class Disk:
    """Has no room for so many calls; each pause takes its time."""

    def __init__(self, failures: int) -> None:
        self.now, self.failures, self.calls, self.told = 0.0, failures, 0, 0

    def write(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return "written"

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def tell(self, error: Exception) -> None:
        self.told += 1

    def wait(self, **options: object) -> str:
        return try_for_room(
            self.write, on_wait=self.tell, clock=lambda: self.now, sleep=self.sleep, **options
        )  # type: ignore[arg-type]


def test_it_waits_and_says_so_once() -> None:
    disk = Disk(failures=8)
    assert disk.wait() == "written"
    assert (disk.calls, disk.told) == (9, 1)


def test_patience_ends_with_the_error_itself() -> None:
    disk = Disk(failures=10_000)
    with pytest.raises(OSError, match="quota"):
        disk.wait()
    assert 60 <= disk.now < 62
    assert disk.told == 1


def test_it_ends_when_it_is_over() -> None:
    disk = Disk(failures=10_000)
    with pytest.raises(OSError, match="quota"):
        disk.wait(is_over=lambda: disk.now > 3)
    assert disk.now < 5


def test_a_put_that_failed_leaves_nothing_that_takes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "x").write_text("x")
    store = LocalStore(tmp_path / "store")

    def full(self: LocalStore, *_: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded", "x")

    monkeypatch.setattr(LocalStore, "_seal", full)
    with pytest.raises(StorageError) as caught:
        store.put(source, "trial/checkpoint_000001")
    assert lacks_room(caught.value)
    assert not list((tmp_path / "store").rglob(".put-*"))
