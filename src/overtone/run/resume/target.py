"""Finds the experiment that a call resumes, and unfinished experiments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any, Literal

from overtone.errors import OvertoneError, StorageError
from overtone.regular_files import open_regular
from overtone.run.header.source_hash import main_script
from overtone.run.storage.experiment_list import is_submitted
from overtone.run.storage.location import locate
from overtone.store.folder_mark import JOURNAL, LOCK

ENVIRONMENT = "OVERTONE_RESUME"
"""The folder of the experiment that a command, run again, is to resume."""

RERUN = "OVERTONE_RERUN"
"""The experiment and the trial that a command is to run again, as JSON: {"path": ..., "trial_id": ...}."""

RERUN_INFIX = "_rerun_"
"""Stands in the name of a rerun's folder, between the experiment and the trial."""

Errored = Literal["", "resume", "restart"]

_SUFFIXES: dict[str, Errored] = {
    "": "", "+ERRORED": "resume", "+ERRORED_ONLY": "resume",
    "+RESTART_ERRORED": "restart", "+RESTART_ERRORED_ONLY": "restart",
}  # fmt: skip
_counted = count()


@dataclass(frozen=True, slots=True)
class Wish:
    """The parsed value of `resume=...`.

    Attributes:
        kind: "no", "auto" (resume an experiment if there is one, else begin) or "must".
        errored: Treatment of trials that ended in an error; see `Resumed`.
    """

    kind: Literal["no", "auto", "must"] = "no"
    errored: Errored = ""


def wish(asked: Any) -> Wish:
    """Return the parsed value of the argument `resume`.

    Raises:
        OvertoneError: The value is unknown.
    """
    if asked in (None, False):
        return Wish()
    if asked is True:
        return Wish("must")
    if isinstance(asked, str):
        first, plus, suffix = asked.upper().partition("+")
        errored = _SUFFIXES.get(plus + suffix)
        if errored is not None and first == "AUTO":
            return Wish("auto", errored)
        if errored is not None and first in ("LOCAL", "REMOTE", "TRUE", "", "ERRORED_ONLY"):
            return Wish("must", "resume" if first == "ERRORED_ONLY" else errored)
    raise OvertoneError(
        f'resume={asked!r}: choose True, False or "AUTO"; "AUTO+ERRORED" also tries failed trials again '
        'from their last checkpoint, "AUTO+RESTART_ERRORED" from their beginning'
    )


def count_in_process() -> int:
    """Return how many experiments this process began before this one, and count this one."""
    return next(_counted)


def find(root: Path, name: str | None, trainable: str, asked: Wish, nth: int) -> tuple[Path | None, str]:
    """Return the folder of the experiment to resume, or None to begin a new one, and a message.

    Args:
        root: The parent folder of experiments.
        name: The experiment's name, if given.
        trainable: The trainable's name, which the folders of unnamed experiments begin with.
        nth: Its number in its process: a script may run several experiments.

    Raises:
        OvertoneError: It must exist, and does not.
    """
    again = os.environ.get(ENVIRONMENT)
    if again:
        found = of_last_time(locate(again), root, name, nth)
        if found is not None or asked.kind == "no":
            return found, ""
    if name is not None:
        folder = root / name
        if asked.kind == "no":
            return None, ""
        if _has_journal(folder):
            return folder, ""
        if asked.kind == "must":
            raise OvertoneError(
                f"resume=True, but {folder} holds no experiment; there are: {_listed(root)}. "
                'Name one of them, or use resume="AUTO", which starts a new experiment if there is none'
            )
        return None, ""
    newest = _newest(root, trainable)
    if asked.kind == "must":
        if newest is None:
            raise OvertoneError(f"resume=True, but {root} holds no earlier experiment of {trainable}")
        return newest, ""
    if newest is None or is_running(newest):
        return None, ""
    is_over = is_finished(newest)
    if asked.kind == "auto":
        return (None if is_over else newest), ""
    return None, _about_new(newest, trainable, is_over) if main_script() else ""


def _about_new(earlier: Path, trainable: str, is_over: bool) -> str:
    """Return a line about an earlier experiment of the same script, which a new one does not continue."""
    if is_over:
        return f"a new experiment begins; the last one of {trainable}, which is finished, is in {earlier}"
    command = "" if is_submitted() else f"overtone resume {quote(str(earlier))}, or "
    return (
        f"a new experiment begins; the last one of {trainable} is unfinished, in {earlier}. To go on with it "
        f'instead: {command}resume="AUTO"'
    )


def is_finished(folder: Path) -> bool:
    """Return whether the experiment ended with nothing left to do."""
    try:
        with open_regular(folder / JOURNAL) as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4096))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return False
    return b',"e":"end",' in last[:40]


def is_running(folder: Path) -> bool:
    """Return whether a driver runs the experiment now."""
    from overtone.journal.lock import is_locked

    return is_locked(folder / LOCK)


def header_of(folder: Path) -> Mapping[str, Any]:
    """Return the journal's first record.

    Raises:
        StorageError: It cannot be read.
    """
    from overtone.journal.lines import header

    return header(folder / JOURNAL)


def _has_journal(folder: Path) -> bool:
    """Return whether the folder has a journal with a first line: a driver may have failed before it."""
    from overtone.journal.lines import has_records

    return has_records(folder / JOURNAL)


def is_begun(folder: Path) -> bool:
    """Return whether the folder has a record, readable or not."""
    try:
        return _has_journal(folder)
    except StorageError:
        return True  # it cannot be read, but is there


def of_last_time(
    target: Path, root: Path, name: str | None, nth: int, last: Mapping[str, Any] | None = None
) -> Path | None:
    """Return this experiment's folder of the last time that the command of `target` ran.

    Args:
        last: The header of `target`, or facts that replace it.
    """
    last = last or header_of(target)
    if name is not None:
        # under another name, where it was moved aside or copied
        if (root / name).absolute() == target.absolute() or last.get("called") == name:
            return target
        return root / name if _has_journal(root / name) else None
    if last.get("nth", 0) == nth:
        return target
    for folder in _experiments(root):
        try:
            one = header_of(folder)
        except StorageError:
            continue
        if one.get("nth", 0) == nth and all(one.get(name) == last.get(name) for name in ("pid", "hostname")):
            return folder
    return None


def _newest(root: Path, trainable: str) -> Path | None:
    """Return the newest unnamed experiment of this script."""
    script = main_script()
    found = [folder for folder in _experiments(root, f"{trainable}_2") if RERUN_INFIX not in folder.name]
    for folder in sorted(found, key=lambda one: one.name, reverse=True)[:3]:
        try:
            if header_of(folder)["parts"].get("main") == script:
                return folder
        except (StorageError, KeyError):
            continue
    return None


def _experiments(root: Path, prefix: str = "") -> list[Path]:
    try:
        with os.scandir(root) as entries:
            return [
                Path(entry.path) for entry in entries
                if entry.name.startswith(prefix) and os.path.exists(os.path.join(entry.path, JOURNAL))
            ]  # fmt: skip
    except OSError:
        return []


def _listed(root: Path) -> str:
    names = sorted(folder.name for folder in _experiments(root) if is_begun(folder))
    return ", ".join(names[-5:]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") or "none"
