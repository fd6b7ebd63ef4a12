"""Brings the experiments of a run back, again and again while it runs, and once it has ended.

The journal comes first: the copy is always the beginning of the journal on the head, in whole lines. The
other files follow. So the checkpoints that the copy names are here, except those that the run deletes
meanwhile: newer checkpoints have replaced them, and a resume takes these in. Checkpoints that the run
deleted are deleted here, too. Experiments at a URL are left where they are.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from overtone.cluster.head import Head
from overtone.cluster.listing import WINDOW_BYTES, checkpoints, checksum, first_line
from overtone.cluster.remote import RemoteError
from overtone.cluster.run_record import RunRecord, records
from overtone.cluster.upload import UNFINISHED
from overtone.errors import NoRoomError, StorageError
from overtone.journal.lines import has_records
from overtone.journal.lock import is_locked
from overtone.reading.location import RESULTS
from overtone.regular_files import open_regular
from overtone.store.folder_mark import JOURNAL, LOCK
from overtone.store.room import is_full, lacks_room

_NO_ROOM = "No space left on device", "Disk quota exceeded"


class BringingElsewhereError(RemoteError):
    """Another command on this machine is bringing the same results."""


class Results:
    """Brings the experiments of one run back.

    Args:
        head: The head of its cluster.
        record: The run on this machine.
        files: The folder that was uploaded; None for none.
        work: Its counterpart on the head.
        cluster: The cluster's name.

    Attributes:
        notes: Lines about experiments that did not come as expected.
    """

    def __init__(self, head: Head, record: RunRecord, files: Path | None, work: str, cluster: str) -> None:
        self._head, self._record, self._cluster = head, record, cluster
        self._files, self._work = files, work
        self._brought: dict[str, int] = {}  # Bytes of each journal here, as the last copy left it.
        self._began: dict[str, str | None] = {}  # Where experiments began that were moved aside on the head.
        self.notes: dict[str, str] = {}

    def bring(self, facts: Mapping[str, Any]) -> None:
        """Bring what is new.

        Args:
            facts: The run; see `RunFolder.facts`.

        Raises:
            NoRoomError: This disk is full. What came before is whole; the next call goes on.
            StorageError: A folder here cannot be written.
            RemoteError: Files cannot be copied.
            BringingElsewhereError: Another command brings the last results now.
            UnreachableError: The head does not answer.
        """
        is_last = facts["state"] in ("ended", "lost")
        lock = self._record.take_results()
        if lock is None:
            if is_last:
                raise BringingElsewhereError(f"another command is bringing the results of {self._record.id}")
            return
        try:
            self._record.read()  # Another command may have moved folders.
            self._bring_all(facts, is_last)
        finally:
            os.close(lock)

    def _bring_all(self, facts: Mapping[str, Any], is_last: bool) -> None:
        wanted = []
        for experiment in facts["experiments"]:
            there, url = experiment["folder"], experiment["url"]
            here = self._record.here(there) or self._place(there, str(facts["home"]))
            self._began[there] = experiment.get("was")
            self._record.note_experiment(there, here, url)
            if url is None:
                wanted.append(there)
        if not wanted:
            return
        unchecked, described = self._described(wanted)
        moves = [self._follow_move(found) for found in described]
        if any(moves):
            unchecked, described = self._described(wanted)
        for found in described:
            there = found["folder"]
            try:
                self._bring_one(found, there in unchecked, is_last)
            except OSError as error:
                raise _about(error, self._here(there)) from None
            except RemoteError as error:
                if any(text in str(error) for text in _NO_ROOM) and is_full(_existing(self._here(there))):
                    raise _about(OSError(28, os.strerror(28)), self._here(there)) from None
                raise

    @property
    def places(self) -> list[str]:
        """Where the experiments are: a folder here, or a URL."""
        known = self._record.facts["experiments"].values()
        return [fact["url"] or fact["here"] for fact in known]

    @property
    def unfinished(self) -> list[Path]:
        """The folders here of experiments that have something left to do."""
        from overtone.run.resume.target import is_finished  # takes a third of a second

        known = self._record.facts["experiments"].values()
        here = [Path(fact["here"]) for fact in known if not fact["url"]]
        return [one for one in here if has_records(one / JOURNAL) and not is_finished(one)]

    @property
    def is_whole(self) -> bool:
        """Whether all experiments are here as they are on the head, after the run's end."""
        return all(fact["url"] or fact["whole"] for fact in self._record.facts["experiments"].values())

    def _bring_one(self, found: Mapping[str, Any], is_unchecked: bool, is_last: bool) -> None:
        there = found["folder"]
        here = self._here(there)
        if _is_same_file(found, here):  # a folder that both machines see
            self._record.note_experiment(there, here, None, whole=is_last)
            return
        if is_unchecked:
            here = self._checked_place(found, here)
            self._record.note_experiment(there, here, None)
        here.mkdir(parents=True, exist_ok=True)
        if is_locked(here / LOCK):
            raise StorageError(f"{here} runs on this machine, so results cannot come there: stop it")
        old = set(checkpoints(here)) - set(found["checkpoints"])  # not those that are made meanwhile
        self._bring_journal(there, here)
        self._brought[there] = _whole_bytes(here / JOURNAL)
        self._head.remote.get(f"{there}/", here, (*UNFINISHED, f"/{JOURNAL}"))
        _delete(here, old)
        self._record.note_experiment(there, here, None, whole=is_last)

    def _described(self, wanted: Sequence[str]) -> tuple[set[str], list[dict[str, Any]]]:
        """Return the experiments whose place must be checked, and what the head says of all."""
        known = {there: _whole_bytes(self._here(there) / JOURNAL) for there in wanted}
        unchecked = {there: size for there, size in known.items() if size != self._brought.get(there)}
        return set(unchecked), self._head.experiments(wanted, unchecked)

    def _follow_move(self, found: Mapping[str, Any]) -> bool:
        """Rename the copy of an experiment that a later run on the head has moved aside."""
        here, began = self._here(found["folder"]), self._record.here(self._began[found["folder"]] or "")
        if began is None or here.exists() or _whole_bytes(began / JOURNAL) == 0:
            return False
        if first_line(began / JOURNAL) != found["first"] or is_locked(began / LOCK):
            return False
        began.rename(here)
        return True

    def _here(self, there: str) -> Path:
        return Path(self._record.facts["experiments"][there]["here"])

    def _bring_journal(self, there: str, here: Path) -> None:
        """Append new lines to the copy of a journal; replace the copy if the head has another one."""
        path = here / JOURNAL
        known = _whole_bytes(path)
        begin = max(0, known - WINDOW_BYTES)
        crc = checksum(path, known - begin, begin) if known else 0
        growing = _GrowingCopy(path, known)
        try:
            self._head.journal(f"{there}/{JOURNAL}", known, crc, growing.take)
            growing.finish()
        finally:
            growing.close()

    def _checked_place(self, found: Mapping[str, Any], here: Path) -> Path:
        """Return the folder for an experiment: `here`, unless the same experiment went on there.

        Another experiment of that name is moved aside, as a new run on one machine does.
        """
        own, there = here / JOURNAL, str(found["folder"])
        n_bytes = _whole_bytes(own)
        if n_bytes == 0 or found["prefix"] == checksum(own, n_bytes):
            return here
        if is_locked(here / LOCK):
            raise StorageError(f"{here} runs on this machine, so results cannot come there: stop it")
        if first_line(own) != found["first"]:
            aside = _fresh(here.with_name(f"{here.name}.{time.strftime('%Y-%m-%d_%H-%M-%S')}"))
            here.rename(aside)
            for record in records(self._record.folder):
                record.move(here, aside)
            self.notes[there] = f"results come to {here}; the earlier experiment is now in {aside}"
            return here
        beside = _fresh(here.with_name(f"{here.name}_from_{self._cluster}"))
        self.notes[there] = f"{here} has gone on here, so results come to {beside}"
        return beside

    def _place(self, there: str, home: str) -> Path:
        """Return the folder here for an experiment: its place among the uploaded files or the results.

        An experiment elsewhere on the head comes to the results by its name.
        """
        work = self._work.replace("~", home, 1) if self._work.startswith("~/") else self._work
        if self._files is not None and there.startswith(work + "/"):
            return self._files / there[len(work) + 1 :]
        results = RESULTS.replace("~", home, 1) + "/"
        below = there[len(results) :] if there.startswith(results) else os.path.basename(there)
        return Path(RESULTS).expanduser() / below


class _GrowingCopy:
    """A journal's copy, which grows by bytes at offsets, or is written anew and then replaced."""

    def __init__(self, path: Path, known: int) -> None:
        self._path, self._known = path, known
        self._new = path.with_name(f"{path.name}.new")
        self._fd = -1
        self._is_new = False

    def take(self, offset: int, data: bytes) -> None:
        """Write bytes at an offset."""
        if self._fd < 0:
            self._is_new = offset != self._known or not self._path.exists()
            target = self._new if self._is_new else self._path
            self._fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            os.ftruncate(self._fd, offset)  # a torn end goes
        view = memoryview(data)
        while view:
            n = os.pwrite(self._fd, view, offset)
            view, offset = view[n:], offset + n

    def finish(self) -> None:
        """Let a new copy take its place."""
        if self._fd >= 0:
            os.fsync(self._fd)
            if self._is_new:
                os.replace(self._new, self._path)

    def close(self) -> None:
        """Close the file; what is left of an unfinished new copy goes, for it takes room."""
        if self._fd >= 0:
            os.close(self._fd)
            if self._is_new:
                self._new.unlink(missing_ok=True)


def _whole_bytes(path: Path) -> int:
    """Return the size of a journal's whole lines; 0 if there is none."""
    try:
        with open_regular(path) as file:
            end = os.fstat(file.fileno()).st_size
            while end > 0:
                begin = max(0, end - WINDOW_BYTES)
                file.seek(begin)
                place = file.read(end - begin).rfind(b"\n")
                if place >= 0:
                    return begin + place + 1
                end = begin
    except FileNotFoundError:
        return 0
    return 0


def _is_same_file(found: Mapping[str, Any], here: Path) -> bool:
    """Return whether the experiment on the head is the folder here: on a shared disk, nothing is copied."""
    try:
        info = os.stat(here / JOURNAL)
    except OSError:
        return False
    is_same_path: bool = os.path.realpath(here) == found["path"]
    return is_same_path and info.st_ino == found["inode"] and info.st_size >= found["size"]


def _delete(here: Path, keys: set[str]) -> None:
    """Delete checkpoints; each is renamed first, so that no half of it counts."""
    for key in sorted(keys):
        path = here / key
        aside = path.with_name(f".deleted-{path.name}")
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def _fresh(path: Path) -> Path:
    """Return `path`, or with _2, _3, ... if it exists."""
    names = (path if n == 1 else path.with_name(f"{path.name}_{n}") for n in count(1))
    return next(name for name in names if not name.exists())


def _existing(path: Path) -> Path:
    return next(one for one in (path, *path.parents) if one.is_dir())


def _about(error: OSError, here: Path) -> OSError:
    """Return the error that a person sees about a folder that cannot be written."""
    if lacks_room(error):
        return NoRoomError(
            f"{here}: this disk is full, and results are still on the head. Make room, then: overtone attach"
        )
    if isinstance(error, StorageError):
        return error
    return StorageError(f"{here}: results cannot be written ({error.strerror or error})")
