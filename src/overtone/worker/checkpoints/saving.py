"""Saving checkpoints to the store and loading them, with the session's counts.

Each checkpoint directory holds `.overtone.json`: the counts of the session that saved it
(`t`, `time_total_s`, `timesteps_total`) and `kind`, the form in which the user gave it:
"directory", "file" (with `name`) or "dict".
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from overtone.core.json_encoder import encoder
from overtone.core.store import Store
from overtone.core.types import Checkpoint
from overtone.errors import DamagedError, StorageError, TrainableError
from overtone.regular_files import open_regular, read_regular
from overtone.store.budgeted import size_of
from overtone.store.local import MANIFEST
from overtone.store.local import STATE_FILE as STATE_FILE

DATA_JSON = "data.json"
DATA_PICKLE = "data.pkl"
UNFINISHED = ".saving_"
_OWN = re.compile(r"\.saving_\d+_[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Restored:
    """A checkpoint on this machine.

    Attributes:
        directory: Its contents; not to be written to.
        state: The contents of `.overtone.json`; empty if the file is missing.
    """

    directory: Path
    state: Mapping[str, Any]

    @property
    def path(self) -> str:
        """The path that the user saved: the directory, or the file in it."""
        if self.state.get("kind") == "file":
            return str(self.directory / self.state["name"])
        return str(self.directory)

    @property
    def like_saved(self) -> Any:
        """The path, or the dict if that was what the user saved."""
        return read_dict(self.directory) if self.state.get("kind") == "dict" else self.path


def fetch(store: Store, checkpoint: Checkpoint) -> Restored:
    """Return `checkpoint`, fetched from the store.

    Raises:
        DamagedError: The store does not have the checkpoint, or it is damaged.
        StorageError: The store cannot be reached.
    """
    directory = store.get(checkpoint.uri)
    if not directory.is_dir():
        raise DamagedError(
            f"checkpoint {checkpoint.uri} of trial {checkpoint.trial_id} is gone: {directory} is not a folder"
        )
    return opened(directory)


def opened(directory: Path) -> Restored:
    """Return the checkpoint in `directory`, with its saved state.

    Raises:
        DamagedError: The state file cannot be read.
    """
    try:
        state = json.loads(read_regular(directory / STATE_FILE))
    except FileNotFoundError:
        state = {}
    except (StorageError, ValueError) as error:
        raise DamagedError(f"{directory / STATE_FILE} is damaged: {error}") from error
    return Restored(directory, state if isinstance(state, dict) else {})


def fetch_first(
    store: Store, checkpoints: Iterable[Checkpoint], on_damage: Callable[[DamagedError], None]
) -> tuple[Checkpoint, Restored] | None:
    """Return the first undamaged one of `checkpoints`; None if all are damaged.

    Args:
        on_damage: Called with the error of each damaged checkpoint.

    Raises:
        StorageError: The store cannot be reached.
    """
    for checkpoint in checkpoints:
        try:
            return checkpoint, fetch(store, checkpoint)
        except DamagedError as error:
            on_damage(error)
    return None


def keep(
    store: Store,
    folder: Path,
    trial_id: str,
    state: Mapping[str, Any],
    attempt: int = 0,
    again: int = 0,
    is_automatic: bool = False,
    config: str = "",
) -> Checkpoint:
    """Move the directory `folder` to the store with `state` in it, and return its reference.

    Args:
        attempt: Attempt of the trial, from 0.
        again: Number of earlier checkpoints of this attempt at the same iteration.
        config: Digest of the trial's initial config.
    """
    t = int(state["t"])
    origin = {"trial": trial_id, "attempt": attempt, "config": config, "automatic": is_automatic}
    note(folder, {**state, **origin})
    size = size_of(folder)
    uri = store.put(folder, f"{trial_id}/{name_of(t, attempt, again)}", move=True)
    return Checkpoint(trial_id, t, uri, size, is_automatic)


def note(folder: Path, state: Mapping[str, Any]) -> None:
    """Write `.overtone.json` into a checkpoint."""
    (folder / STATE_FILE).write_text(json.dumps(state), "utf-8")


def newest(results: Sequence[str], most_bytes: int) -> list[str]:
    """Return as many of the last texts as fit in `most_bytes` characters, in their order."""
    found: list[str] = []
    for text in reversed(results):
        most_bytes -= len(text)
        if most_bytes < 0:
            break
        found.append(text)
    return found[::-1]


def config_digest(config: Mapping[str, Any]) -> str:
    """Return a short digest that distinguishes configs by the values that are data.

    The digest is the same before and after the journal stored the config; "" if it cannot be computed.
    """
    try:
        return f"{crc32(_encode_sorted(config).encode()):08x}"
    except Exception:  # such as keys of several types, or a value of the user's own that raises
        return ""


def _as_data(value: Any) -> Any:
    """Return a NumPy scalar as a Python number, and any other object as its type or function name."""
    if getattr(value, "ndim", None) == 0:
        return value.item()
    kind = value if isinstance(value, type) or hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


_encode_sorted = encoder(_as_data, allow_nan=True, is_spaced=True, sort_keys=True)


def name_of(t: int, attempt: int, again: int) -> str:
    """Return a name such as "checkpoint_000010", or "checkpoint_000010_a2" in the second attempt.

    Names are unique within a trial: a late deletion of one checkpoint cannot hit another.
    """
    name = f"checkpoint_{t:06d}"
    if attempt:
        name += f"_a{attempt + 1}"
    return f"{name}_{again + 1}" if again else name


def is_users(place: Path) -> bool:
    """Return whether the place of a checkpoint is taken by something that no store has put there."""
    return os.path.lexists(place) and not (place / MANIFEST).exists()


@contextmanager
def staging(beside: Path) -> Iterator[Path]:
    """Yield a new directory below `beside`, and delete it after the block unless it was moved."""
    folder = new_folder(beside)
    try:
        yield folder
    finally:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def new_folder(beside: Path) -> Path:
    """Create a hidden directory in `beside`, which must exist, with the default permissions."""
    folder = beside / f"{UNFINISHED}{os.getpid()}_{os.urandom(6).hex()}"
    folder.mkdir()
    return folder


def sweep(beside: Path) -> None:
    """Delete the directories below `beside` of processes that were killed while they saved."""
    import shutil

    for folder in beside.glob(f"{UNFINISHED}*"):
        if _OWN.fullmatch(folder.name):  # other folders belong to the user
            shutil.rmtree(folder, ignore_errors=True)


def place(source: Path, folder: Path) -> str:
    """Copy the file or directory `source` into `folder`.

    The copy is not a link: the user's code may write to `source` again.

    Returns:
        Name of the copy in `folder`.

    Raises:
        TrainableError: A link in `source` leads to a folder that it is in.
    """
    import shutil

    if source.is_dir():
        copy_tree(source, folder / source.name)
    else:
        shutil.copy2(source, folder / source.name)
    return source.name


def copy_into(source: Path, folder: Path) -> None:
    """Copy the contents of the directory `source` into `folder`.

    Raises:
        TrainableError: `source` is not a directory, or a link in it leads to a folder that it is in.
    """
    if not source.is_dir():
        raise TrainableError(f"a checkpoint must be a file or directory that exists, not {str(source)!r}")
    copy_tree(source, folder, kept_ones)
    folder.chmod(folder.stat().st_mode | 0o700)  # the user's directory may be read-only


def copy_tree(
    source: Path, target: Path, ignore: Callable[[str, list[str]], list[str]] | None = None
) -> None:
    """Copy a directory, with what its links lead to. Links to nothing are left out.

    Args:
        ignore: Returns the names to leave out of a directory's names.

    Raises:
        TrainableError: A link leads to a folder that it is in: the copy would have no end.
    """
    import shutil

    way = {os.fspath(source): [os.path.realpath(source)]}  # the real folders on the way to each folder

    def without_circles(where: str, names: list[str]) -> list[str]:
        left_out = [] if ignore is None else ignore(where, names)
        for name in set(names) - set(left_out):
            path = os.path.join(where, name)
            if not os.path.isdir(path):
                if not os.path.exists(path):  # the option of `copytree` also leaves out relative links
                    left_out.append(name)
                continue
            real = os.path.realpath(path)
            if os.path.islink(path) and any(Path(one).is_relative_to(real) for one in way[where]):
                raise TrainableError(
                    "a checkpoint must not have a link to a folder that the link is in: leave out "
                    f"{path}, which leads to {real}"
                )
            way[path] = [*way[where], real]
        return left_out

    shutil.copytree(source, target, dirs_exist_ok=True, ignore=without_circles)


def kept_ones(where: str, names: list[str]) -> list[str]:
    """Return the checkpoints among `names`, kept or being saved: `source` may be the trial's folder."""
    return [
        name
        for name in names
        if name.startswith(UNFINISHED)
        or (name.startswith("checkpoint_") and os.path.exists(os.path.join(where, name, MANIFEST)))
    ]


def write_dict(data: Mapping[str, Any], folder: Path) -> None:
    """Write `data` as JSON if JSON preserves it exactly, else as a pickle."""
    if _is_plain(data):
        (folder / DATA_JSON).write_text(json.dumps(data), "utf-8")
        return
    import cloudpickle

    with (folder / DATA_PICKLE).open("wb") as file:
        cloudpickle.dump(data, file, protocol=5)


def read_dict(folder: Path) -> Any:
    """Return the dict that `write_dict` wrote; may unpickle, so call it on a user's own checkpoints only.

    Raises:
        StorageError: The checkpoint was saved as files, not as a dict.
    """
    plain = folder / DATA_JSON
    if plain.exists():
        return json.loads(read_regular(plain))
    pickled = folder / DATA_PICKLE
    if not pickled.exists():
        raise StorageError(f"{folder} holds no dict: it was saved as files; use its path")
    import pickle

    with open_regular(pickled) as file:
        return pickle.load(file)


def _is_plain(value: Any) -> bool:
    """Return whether JSON preserves `value` exactly, with its types."""
    if value is None or type(value) in (bool, int, float, str):
        return True
    if type(value) is list:
        return all(_is_plain(one) for one in value)
    if type(value) is dict:
        return all(type(key) is str and _is_plain(one) for key, one in value.items())
    return False
