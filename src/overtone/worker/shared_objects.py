"""Large objects, shared with the processes of this machine without a copy for each.

`put` writes an object once, into shared memory if it has room, and `get` maps the file: the
buffers of arrays are views of the same pages in every process. A file holds the pickle and
the out-of-band buffers (pickle protocol 5):

    number of parts, length of each (8 bytes, little-endian, each) · parts, aligned to 64

The files lie in a directory of the process that put them, which holds a lock on it. They are
deleted when the process exits; files of a killed process at the next `put` of the same user.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overtone.errors import StorageError
from overtone.worker.checkpoints import held_folders

ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """A reference to an object that was `put`: small, picklable, hashable.

    Attributes:
        path: The file that holds it, on the machine where it was put.
    """

    path: str


def put(value: Any) -> ObjectRef:
    """Share `value` with the processes of this machine.

    Returns:
        A reference for `get`. The object stays until this process exits.

    Raises:
        TypeError, pickle.PicklingError: `value` cannot be pickled.
    """
    return put_pickled(*pickled(value))


def put_pickled(body: bytes, buffers: Sequence[memoryview]) -> ObjectRef:
    """Share an object in the form that `pickled` returns."""
    parts: list[bytes | memoryview] = [body, *buffers]
    size_bytes = sum(len(part) + ALIGNMENT for part in parts) + 8 * (len(parts) + 1)
    return _write(parts, _shelf().new_file(size_bytes))


def delete(ref: ObjectRef) -> None:
    """Delete an object that this process put; arrays that were read from it stay valid."""
    Path(ref.path).unlink(missing_ok=True)


def adopt(ref: ObjectRef, write: Callable[[Path], None]) -> None:
    """Create the file of an object that another machine put, at the same path, until `release_adopted`.

    Args:
        write: Writes the contents to the file at a path; called unless another process of this
            machine has created the file. Of concurrent processes one writes and the others wait.
    """
    _shelf().adopt(Path(ref.path), write)


def release_adopted() -> None:
    """Release the adopted objects; the last process of a machine to do so deletes them."""
    _shelf().release()


def get(ref: ObjectRef | Sequence[ObjectRef]) -> Any:
    """Return the object of a reference, or the objects of a list of references.

    Arrays in it are read-only views of the shared memory; copy one to change it.

    Raises:
        StorageError: The process that put it has exited, or it was on another machine.
        TypeError: `ref` is not a reference.
    """
    if isinstance(ref, (list, tuple)):
        return [get(one) for one in ref]
    if not isinstance(ref, ObjectRef):
        raise TypeError(f"get() takes what put() returned, or a list of that, not {ref!r:.100}")
    return _load(ref)


def pickled(value: Any) -> tuple[bytes, list[memoryview]]:
    """Return the pickle of `value` and its out-of-band buffers."""
    import io
    import pickle

    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _pickler(stream, buffers.append).dump(value)
    return stream.getvalue(), [buffer.raw() for buffer in buffers]


def _write(parts: Sequence[bytes | memoryview], path: Path) -> ObjectRef:
    """Write the parts of a pickled object to `path`."""
    head = struct.pack(f"<{len(parts) + 1}Q", len(parts), *(len(part) for part in parts))
    with path.open("wb") as file:
        position = file.write(head)
        for part in parts:
            position += file.write(b"\0" * (-position % ALIGNMENT))
            position += file.write(part)
    return ObjectRef(str(path))


def _load(ref: ObjectRef) -> Any:
    import mmap
    import pickle

    try:
        with open(ref.path, "rb") as file:
            # private and writable: a tensor that a trial writes to changes for that trial alone
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except FileNotFoundError as error:
        raise StorageError(
            f"{ref} is gone: objects live as long as the process that put them, and on its machine only"
        ) from error
    view = memoryview(pages).toreadonly()
    (count,) = struct.unpack_from("<Q", view)
    lengths = struct.unpack_from(f"<{count}Q", view, 8)
    position, parts = 8 * (count + 1), []
    for length in lengths:
        position += -position % ALIGNMENT
        parts.append(view[position : position + length])
        position += length
    return pickle.loads(parts[0], buffers=parts[1:])


def _pickler(stream: Any, on_buffer: Any) -> Any:
    """Return a cloudpickle pickler with out-of-band buffers for torch tensors as well as for arrays."""
    import sys

    from overtone.by_value import ByValuePickler

    torch: Any = sys.modules.get("torch")
    if torch is None:
        return ByValuePickler(stream, protocol=5, buffer_callback=on_buffer)

    class TensorPickler(ByValuePickler):
        def reducer_override(self, obj: Any) -> Any:
            is_plain = type(obj) is torch.Tensor and obj.device.type == "cpu" and not obj.requires_grad
            if is_plain and obj.layout is torch.strided and obj.dtype is not torch.bfloat16:
                try:
                    return _tensor, (obj.contiguous().numpy(),)
                except (RuntimeError, TypeError):
                    pass  # conjugated, quantised and the like: torch pickles them itself
            return super().reducer_override(obj)

    return TensorPickler(stream, protocol=5, buffer_callback=on_buffer)


def _tensor(array: Any) -> Any:
    import warnings

    import torch

    with warnings.catch_warnings():
        # torch has no read-only tensors; writing to this one changes private pages
        warnings.filterwarnings("ignore", message=".*not writable.*")
        return torch.from_numpy(array)


# --- where the files lie -----------------------------------------------------------------


class _Shelf:
    """The directories of this process, one for each file system that it uses."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._count = 0
        self._homes: dict[str, Path] = {}
        self._adopted: dict[str, int] = {}  # the locks, shared with others who did
        self._locks: list[int] = []
        import atexit

        atexit.register(self.clear)

    def new_file(self, size_bytes: int) -> Path:
        """Return an unused path on a file system with room for `size_bytes`."""
        root = _root_with_room(size_bytes)
        if root not in self._homes:
            self._homes[root] = self._open_home(root)
        self._count += 1
        return self._homes[root] / f"{self._count:06d}"

    def adopt(self, path: Path, write: Callable[[Path], None]) -> None:
        """Create the file at `path`, which lies in a directory of another process."""
        home = path.parent
        if str(home) not in self._adopted:
            self._adopted[str(home)] = held_folders.hold(home)
        with held_folders.gate(home, ".adopting"):
            if not path.exists():
                unfinished = path.with_name(f".{path.name}-unfinished")
                try:
                    write(unfinished)
                except OSError as error:
                    unfinished.unlink(missing_ok=True)
                    raise StorageError(
                        f"{path.parent} cannot hold a large parameter: {error.strerror or error}. Each node "
                        "needs room there for all large parameters of a run"
                    ) from error
                os.replace(unfinished, path)

    def release(self) -> None:
        """Release all adopted objects."""
        for home, lock in self._adopted.items():
            if lock >= 0:  # else the process that put it is on this machine
                held_folders.let_go(Path(home), lock)
        self._adopted.clear()

    def clear(self) -> None:
        """Delete all objects that this process put; do nothing in its forks."""
        if os.getpid() != self.pid:
            return
        import shutil

        for home in self._homes.values():
            shutil.rmtree(home, ignore_errors=True)
        self._homes.clear()

    def _open_home(self, root: str) -> Path:
        import tempfile

        yard = held_folders.open_yard(Path(root, f"overtone-objects-{os.getuid()}"))
        with held_folders.gate(yard):
            held_folders.delete_unheld(yard)
            home = Path(tempfile.mkdtemp(prefix=f"{self.pid}-", dir=yard))
            # held by this process and its forks, until the last of them is gone
            self._locks.append(held_folders.try_lock(home))
        return home


def _root_with_room(size_bytes: int) -> str:
    """Return shared memory if the object fits, else the directory for temporary files."""
    import tempfile

    try:
        status = os.statvfs("/dev/shm")
        if os.access("/dev/shm", os.W_OK) and status.f_bavail * status.f_frsize > 1.2 * size_bytes:
            return "/dev/shm"
    except OSError:
        pass  # no shared memory on this system
    return tempfile.gettempdir()


_the_shelf: _Shelf | None = None


def _shelf() -> _Shelf:
    global _the_shelf
    if _the_shelf is None or _the_shelf.pid != os.getpid():
        _the_shelf = _Shelf()
    return _the_shelf
