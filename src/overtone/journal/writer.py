"""Appends records to a journal: a batch is written whole, or an error is raised."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from overtone.core.messages import Record
from overtone.core.sizes import LONGEST_LINE
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.lines import Lines, check_lengths, has_records, open_for_reading
from overtone.journal.lock import WriterLock, names
from overtone.journal.reader import Plain, Reader, as_record
from overtone.journal.seals import unsealed

Durability = Literal["interval", "sync"]
"""Time until an append survives a power cut: "interval" is a second, "sync" none."""

_SYNC_EVERY_S = 1.0
_CHUNK_BYTES = 1 << 20
_END_BYTES = 1 << 18
_TIME = re.compile(rb'\{"n":\d+,"e":"[a-z_]+","time":([-+.e\d]+),')


class JournalWriter:
    """The only writer of a new journal, which begins with `header`.

    Args:
        path: Path such as ".../journal.jsonl"; its folder must exist.
        header: See `new_header`.
        durability: "interval" (fsync once a second, in a thread) or "sync" (at each append).
        codec: Needed if configs contain values that are not data.
        lock: The journal's lock, which the caller holds and releases; None to hold it until `close`.

    Attributes:
        next_n: The number of the next record.
        codec: Encodes records, and decodes past records.
        last_time: Time of the last event, in seconds of the experiment's running time.
        dropped_bytes: Size of a torn end that was cut off on opening, in bytes.

    Raises:
        StorageError: The journal cannot be written, exists already, or has another writer.
    """

    codec: Codec
    _path: Path

    def __init__(
        self,
        path: str | os.PathLike[str],
        header: Mapping[str, Any],
        durability: Durability = "interval",
        codec: Codec | None = None,
        lock: WriterLock | None = None,
    ) -> None:
        self._prepare(path, durability, codec, lock)
        try:
            if has_records(self._path):
                raise StorageError(
                    f"{self._path} exists already: resume that experiment, or choose another name"
                )
            self._open(os.O_CREAT)
            self._cut(0)
            self._write(self.codec.encode_fact(1, "header", header), 1)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open_for_append(
        cls,
        path: str | os.PathLike[str],
        driver: Mapping[str, Any],
        durability: Durability = "interval",
        codec: Codec | None = None,
    ) -> JournalWriter:
        """Open an existing journal to append: cut off a torn end, and note the new `driver`.

        Args:
            driver: See `driver_facts`.

        Raises:
            StorageError: The journal cannot be read or written, is damaged, or has another writer.
        """
        writer = cls.reopen(path, durability, codec)
        try:
            for _ in writer.past():
                pass
            writer.note("driver", driver)
        except BaseException:
            writer.close()
            raise
        return writer

    @classmethod
    def reopen(
        cls,
        path: str | os.PathLike[str],
        durability: Durability = "interval",
        codec: Codec | None = None,
        lock: WriterLock | None = None,
    ) -> JournalWriter:
        """Return the writer of an existing journal; read its `past()` to the end before you append.

        The file is open from now on: it can be found and copied if another program moves or deletes it.

        Args:
            lock: As for the constructor.

        Raises:
            StorageError: The journal has another writer, or cannot be written.
        """
        writer = cls.__new__(cls)
        writer._prepare(path, durability, codec, lock)
        if writer._path.is_file():  # else `past` raises the error
            try:
                writer._open(0)
            except BaseException:
                writer.close()
                raise
        return writer

    @property
    def written_bytes(self) -> int:
        """Size of the file without an append that may be taken back, in bytes."""
        return self._good_bytes

    @property
    def durable_bytes(self) -> int:
        """Size of the part of the file that survives a power cut, in bytes."""
        return self._durable_bytes

    def newest_time(self) -> float:
        """Return the time of the last whole record; 0.0 if there is none.

        Only the end of the file is read, unless the last record is very long or torn.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        with open_for_reading(self._path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END_BYTES))
            lines = file.read().split(b"\n")[:-1]
        for line in reversed(lines):
            found = _TIME.match(line)
            if found is not None and unsealed(line) is not None:
                return float(found[1])
        time = 0.0
        for body in Lines(self._path):
            found = _TIME.match(body)
            time = float(found[1]) if found is not None else time
        return time

    def past(self) -> Iterator[Record]:
        """Return an iterator over all records so far, metrics undecoded; at its end a torn end is cut off.

        Raises:
            StorageError: The journal cannot be read, is damaged, or has no header.
        """
        return map(as_record, self.entries())

    def entries(self, n: int = 0, offset: int = 0, time: float = 0.0) -> Iterator[Record | Plain]:
        """Yield entries as `past`, but plain reports as tuples of parts, in a third of the time.

        Args:
            n: Start after the record of this number.
            offset: The end of that record, in bytes.
            time: The time of that record.

        Raises:
            StorageError: The file has no complete header, or a line is damaged.
        """
        reader = Reader(self._path, offset, codec=self.codec, n=n)
        self.last_time = time
        entry: Record | Plain | None = None
        for entry in reader.entries():
            yield entry
        if entry is not None:
            self.last_time = entry[1] if isinstance(entry, tuple) else entry.event.time
        if reader.lines.n == 0:
            raise StorageError(f"{self._path} holds no complete header: nothing was recorded; start anew")
        self.next_n = reader.lines.n + 1
        self.dropped_bytes = reader.lines.dropped_bytes
        self._cut(reader.lines.offset)

    def note(self, kind: Literal["driver", "end"], facts: Mapping[str, Any]) -> None:
        """Write a fact that is not an event: a new driver, or the end of the experiment.

        Raises:
            StorageError: The write failed.
        """
        self._write(self.codec.encode_fact(self.next_n, kind, facts), 1)

    def _prepare(
        self,
        path: str | os.PathLike[str],
        durability: Durability,
        codec: Codec | None,
        lock: WriterLock | None,
    ) -> None:
        self.next_n = 1
        self.last_time = 0.0
        self.dropped_bytes = 0
        self._path = Path(path)
        self.codec = codec or Codec()
        self._syncs_always = durability == "sync"
        self._fd = -1
        self._good_bytes = self._durable_bytes = 0
        self._is_dirty = False
        self._is_torn = False
        self._sync_error: OSError | None = None
        self._syncer: threading.Thread | None = None
        self._is_closing = threading.Event()
        self._on_gone: Callable[[bool], None] | None = None
        self._own_lock: WriterLock | None = None
        if lock is not None:
            return
        try:
            self._own_lock = WriterLock(self._path.with_name(self._path.name + ".lock"))
        except StorageError:  # is an OSError too, with a better message
            raise
        except OSError as error:
            raise self._unwritable(error) from error

    def _open(self, flags: int) -> None:
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_APPEND | flags, 0o666)
            self._good_bytes = os.fstat(self._fd).st_size
        except OSError as error:
            raise self._unwritable(error) from error

    def _cut(self, keep_bytes: int) -> None:
        """Truncate the open file to `keep_bytes`, after it was read at its path."""
        if not self.is_at_path:
            raise StorageError(f"{self._path} was moved, deleted or replaced while it was read")
        try:
            os.ftruncate(self._fd, keep_bytes)
        except OSError as error:
            raise self._unwritable(error) from error
        self._good_bytes = keep_bytes
        self._is_dirty = keep_bytes > 0  # the last driver may have left data unsynced

    # --- appending ---------------------------------------------------------------------

    def append(self, records: Sequence[Record]) -> None:
        """Write the records, all or none.

        Raises:
            StorageError: The write failed, and none of the records is in the file: the caller may
                retry.
        """
        if not records:
            return
        if records[0].n != self.next_n:
            raise ValueError(f"record {records[0].n} cannot follow record {self.next_n - 1}")
        encode = self.codec.encode
        data = encode(records[0]) if len(records) == 1 else b"".join([encode(record) for record in records])
        self._write(data, len(records))
        self.last_time = records[-1].event.time

    def _write(self, data: bytes, count: int) -> None:
        if self._fd < 0:
            raise StorageError(f"{self._path} is closed")
        if len(data) > LONGEST_LINE:
            check_lengths(self._path, data, LONGEST_LINE)
        error, self._sync_error = self._sync_error, None
        try:
            if error is not None:
                raise error
            if self._is_torn:
                os.ftruncate(self._fd, self._good_bytes)
                self._is_torn = False
            left = data
            while left:
                left = left[os.write(self._fd, left) :]
            if self._syncs_always:
                os.fsync(self._fd)
        except BaseException as error:
            self._take_back()
            if isinstance(error, OSError):
                raise self._unwritable(error) from error
            raise
        self._good_bytes += len(data)
        self.next_n += count
        self._is_dirty = True
        if self._syncs_always:
            self._durable_bytes, self._is_dirty = self._good_bytes, False
        if self._syncer is None:
            run = self._sync_now_and_then
            self._syncer = threading.Thread(target=run, name="overtone-journal", daemon=True)
            self._syncer.start()

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._fd, self._good_bytes)
        except OSError:
            self._is_torn = True  # readers drop a torn end; the next append must cut it first

    def _unwritable(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self._path} cannot be written: {error.strerror or error}. Make room there or allow writing, "
            f"or choose another storage_path."
        )

    # --- durability --------------------------------------------------------------------

    def _sync_now_and_then(self) -> None:
        while not self._is_closing.wait(_SYNC_EVERY_S):
            if not self._syncs_always:
                self._sync()
            self._look()

    # --- location of the file ----------------------------------------------------------

    @property
    def is_at_path(self) -> bool:
        """Whether the file is open, and is the file at the path."""
        return self._fd >= 0 and names(self._path, self._fd)

    def watch(self, on_gone: Callable[[bool], None]) -> None:
        """Have `on_gone(is_deleted)` called once, from another thread, when the file has left its path.

        The thread checks once a second. Later appends still go to the open file.
        """
        self._on_gone = on_gone

    def _look(self) -> None:
        if self._on_gone is not None and not self.is_at_path:
            on_gone, self._on_gone = self._on_gone, None
            on_gone(self.is_deleted)

    @property
    def is_deleted(self) -> bool:
        """Whether the open file has no name left in the file system."""
        return self._fd >= 0 and os.fstat(self._fd).st_nlink == 0

    def found_at(self) -> Path | None:
        """Return the current path of the open file; None if it was deleted, or the system cannot tell."""
        try:
            path = Path(os.readlink(f"/proc/self/fd/{self._fd}"))
        except OSError:
            return None
        return path if self._fd >= 0 and names(path, self._fd) else None

    def copy_to(self, path: Path) -> None:
        """Write the recorded part to a new file, even if the open file was deleted.

        Raises:
            OSError: The copy cannot be written.
        """
        with open(path, "xb") as copy:
            while chunk := os.pread(self._fd, min(_CHUNK_BYTES, self._good_bytes - copy.tell()), copy.tell()):
                copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())

    def sync(self) -> None:
        """Make all written data durable now. A failure is raised by the next append."""
        if self._fd >= 0:
            self._sync()

    def _sync(self) -> None:
        if not self._is_dirty:
            return
        self._is_dirty = False
        end = self._good_bytes
        try:
            os.fsync(self._fd)
        except OSError as error:
            self._is_dirty = True
            self._sync_error = error  # the next append raises it
        else:
            self._durable_bytes = max(self._durable_bytes, end)

    def close(self) -> None:
        """Make all data durable, and release the lock. Calling it twice is safe.

        Raises:
            StorageError: The last second may not be on the disk.
        """
        self._is_closing.set()
        if self._syncer is not None:
            self._syncer.join()
            self._syncer = None
        error = None
        if self._fd >= 0:
            self._sync()
            error = self._sync_error
            os.close(self._fd)
            self._fd = -1
        if self._own_lock is not None:
            self._own_lock.release()
            self._own_lock = None
        if error is not None:
            raise self._unwritable(error) from error
