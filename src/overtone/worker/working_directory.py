"""The working directory of trials: each trial works in its own folder, so that its files are its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from overtone.core.job import Job
from overtone.standard_streams import say
from overtone.store.folder_mark import mark_of
from overtone.store.room import try_for_room

ORIGINAL = "TUNE_ORIG_WORKING_DIR"
"""Environment variable with the directory in which the search was started."""

_SEARCHED = "PYTHONPATH"
_MOST_CAUSES = 20


def enter(job: Job, trial_id: str) -> None:
    """Make a trial's folder the working directory of this process, if the job says so.

    Module search paths are made absolute first, so that imports find what they found before. A process
    that runs several trials moves from one folder to the next.

    Raises:
        FolderGoneError: The experiment's folder was moved or deleted.
    """
    if ORIGINAL not in os.environ:
        with suppress(FileNotFoundError):  # the directory of the driver was deleted
            os.environ[ORIGINAL] = os.getcwd()
    if not job.chdir_to_trial_dir:
        return
    with suppress(FileNotFoundError):
        _make_search_paths_absolute()
    mark = mark_of(job)
    folder = try_for_room(partial(mark.make, trial_id))
    try:
        os.chdir(folder)
    except FileNotFoundError:
        mark.check()  # The run's folder may have been moved since.
        raise


def _make_search_paths_absolute() -> None:
    for place, one in enumerate(sys.path):
        if not os.path.isabs(one):
            sys.path[place] = os.path.abspath(one)
    given = os.environ.get(_SEARCHED)
    if given:
        parts = given.split(os.pathsep)
        if not all(map(os.path.isabs, parts)):
            os.environ[_SEARCHED] = os.pathsep.join(map(os.path.abspath, parts))


def hand_over_files(job: Job, trial_id: str) -> None:
    """Copy the files that a trial wrote to the experiment's folder, if this machine does not see that folder.

    These are the files directly in the trial's folder, without hidden ones. If that fails, the user is told.
    """
    if job.mark is not None or job.store is None:
        return
    try:
        with os.scandir(job.folder / trial_id) as found:
            files = {f"{trial_id}/{one.name}": Path(one.path) for one in found if _is_handed_over(one)}
        if files:
            job.store.add_files(files)
    except FileNotFoundError:
        pass  # the trial has no folder
    except Exception as error:
        say(f"trial {trial_id}: its files were not copied from this node: {type(error).__name__}: {error}")


def _is_handed_over(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) and not entry.name.startswith(".")


class DriversDirectory:
    """The working directory of a driver that also runs trials in its process, one after the other."""

    def __init__(self) -> None:
        self._place: int | str = ""

    @contextmanager
    def left(self) -> Iterator[None]:
        """Let a trial work elsewhere during the block, and undo all changes that `enter` makes afterwards."""
        variables = {name: os.environ.get(name) for name in (ORIGINAL, _SEARCHED)}
        given = {os.path.abspath(one): one for one in sys.path if not os.path.isabs(one)}
        self._place = _present()
        try:
            yield
        finally:
            _go(self._place)
            _close(self._place)
            self._place = ""
            sys.path[:] = [given.get(one, one) for one in sys.path]
            for name, value in variables.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    @contextmanager
    def visited(self) -> Iterator[None]:
        """Let the driver's own code run in the driver's directory during the block."""
        if self._place == "":
            yield
            return
        place = _present()
        _go(self._place)
        try:
            yield
        finally:
            _go(place)
            _close(place)


def missing_file_advice(error: BaseException) -> str:
    """Return advice about a file that was searched for in a trial's folder, and is in the driver's directory.

    Returns:
        A sentence; "" if no file was missing, or the file is not there either.
    """
    home = os.environ.get(ORIGINAL)
    at: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if home is None or at is None:
            break
        if isinstance(at, FileNotFoundError) and isinstance(at.filename, (str, bytes, os.PathLike)):
            name = _relative(os.fsdecode(at.filename))
            if name and os.path.lexists(os.path.join(home, name)):
                return (
                    f"{name!r} is in {home}, where the search was started; each trial works in its own "
                    f'folder. Open os.path.join(os.environ["{ORIGINAL}"], {name!r}), or set '
                    "chdir_to_trial_dir=False"
                )
        at = at.__cause__ or at.__context__
    return ""


def _relative(name: str) -> str:
    """Return a path relative to the working directory; "" if it leads elsewhere."""
    if os.path.isabs(name):
        try:
            name = os.path.relpath(name, os.getcwd())
        except (OSError, ValueError):
            return ""
        return "" if name.startswith(os.pardir) else name
    return name


def _present() -> int | str:
    """Return the working directory: a descriptor, which stays valid if the directory is moved, or a path."""
    try:
        return os.open(os.curdir, os.O_RDONLY)
    except OSError:  # it may not be read, or it was deleted
        with suppress(OSError):
            return os.getcwd()
    return ""


def _go(place: int | str) -> None:
    with suppress(OSError):  # it was deleted meanwhile
        os.chdir(place)


def _close(place: int | str) -> None:
    if isinstance(place, int):
        os.close(place)
