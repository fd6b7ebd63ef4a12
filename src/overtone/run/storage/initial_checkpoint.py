"""The checkpoint that the trials of an experiment begin with: the experiment keeps a copy of it."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.core.store import Store
from overtone.core.types import Checkpoint
from overtone.errors import StorageError

if TYPE_CHECKING:
    from overtone.run.storage.results_place import ResultsPlace

FOLDER = "restored"
"""The folder of the copy, below the experiment's."""

_NAME = re.compile(rf"{FOLDER}/checkpoint_(\d{{6,18}})(?:_\w+)?", re.ASCII)


def source_of(path: str | Path) -> Path:
    """Return the folder or file of a checkpoint, fetched if it is at a URL.

    Args:
        path: A folder, a file in it, or the URL of a folder.

    Raises:
        StorageError: There is nothing at `path`.
    """
    from overtone.store.local import STATE_FILE
    from overtone.worker.checkpoints.checkpoint import Checkpoint as UsersCheckpoint

    source = Path(UsersCheckpoint(path).path)
    if not source.exists():
        raise StorageError(f"restore={str(path)!r}: there is no file or folder of that name")
    is_part = source.is_file() and (source.parent / STATE_FILE).exists()
    return source.parent if is_part else source


def keep_initial(place: ResultsPlace, source: Path) -> Checkpoint:
    """Copy a checkpoint into the experiment's store, and return its reference.

    Iterations are counted on from a checkpoint that Overtone saved, and else from 0.

    Args:
        source: The result of `source_of`.

    Raises:
        StorageError: It cannot be copied.
    """
    from overtone.worker.checkpoints import saving

    with tempfile.TemporaryDirectory(prefix=saving.UNFINISHED, dir=place.folder) as made:
        folder = Path(made, "copy")
        folder.mkdir()
        state: dict[str, object] = {"t": 0, "kind": "directory"}
        if source.is_file():
            shutil.copy2(source, folder / source.name)
            state |= {"kind": "file", "name": source.name}
        else:
            saving.copy_into(source, folder)
            state |= saving.opened(folder).state
        saving.note(folder, state)
        t = int(str(state["t"]))
        uri = place.store(place.mark).put(folder, f"{FOLDER}/checkpoint_{t:06d}", move=True)
    return Checkpoint("", t, uri)


def kept_initial(place: ResultsPlace) -> Checkpoint | None:
    """Return the checkpoint that an earlier driver kept; None if there is none."""
    return initial_in(place.store(place.mark), str(place.url or place.folder))


def initial_in(store: Store, base: str) -> Checkpoint | None:
    """Return the checkpoint that trials begin with, in the store of an experiment at `base`."""
    for key in store.list(f"{FOLDER}/"):
        if found := _NAME.fullmatch(key):
            return Checkpoint("", int(found[1]), f"{base}/{key}")
    return None
