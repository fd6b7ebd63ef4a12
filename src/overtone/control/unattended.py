"""Requests to an experiment that no driver runs: appended to its journal, for the next resume."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from overtone.control.added_configs import completion
from overtone.control.answers import Answer, ControlError
from overtone.control.claim import claimed
from overtone.core.messages import Record, Requested
from overtone.errors import OvertoneError, SpaceError
from overtone.journal.codec import Codec
from overtone.journal.header import checked_header, put_together
from overtone.journal.lines import Lines
from overtone.journal.lines import header as header_in
from overtone.journal.lock import WriterLock
from overtone.journal.text import loads
from overtone.journal.writer import JournalWriter
from overtone.reading.trial_names import find_trial
from overtone.space.data import decode_config, encode_config, space_from_data
from overtone.space.pins import pin
from overtone.space.tree import parse
from overtone.store.folder_mark import JOURNAL

_TIME = re.compile(rb'\{"n":\d+,"e":"[a-z_]+","time":([-+.e\d]+)')
_ADDED = re.compile(rb'"c":"added","trial_id":"([A-Za-z0-9_.-]+)"')
_END = re.compile(rb'\{"n":\d+,"e":"end"')
_REOPENING = ("add", "set_limits")


@dataclass(slots=True)
class _Scan:
    """The facts of a journal that a new record depends on, from one pass over its lines.

    Attributes:
        n: The number of its last line.
        offset: The end of that line, in bytes.
        time: The time of its last event.
        trials: The ids of all trials, in the order of creation.
        end: The facts of its last line, if that says that the experiment is finished.
        known: The record of the request that is searched for, if it is there.
    """

    header: Mapping[str, Any]
    n: int = 0
    offset: int = 0
    time: float = 0.0
    trials: list[str] = field(default_factory=list)
    end: Mapping[str, Any] | None = None
    known: tuple[int, bytes] | None = None


def recorded(folder: Path, event: Requested) -> Answer | None:
    """Return the answer to a request that is in the journal already; None if it is not there.

    Raises:
        StorageError: The journal cannot be read, or is damaged.
    """
    return _answer(_scanned(folder / JOURNAL, event.request))


def append_unattended(folder: Path, event: Requested) -> Answer:
    """Append a request to the journal of an experiment that no driver runs, and return its answer.

    The lock is held meanwhile, and the lease of the experiment's URL: no driver begins, and no second request
    is appended at the same time.

    Raises:
        ControlError: The request makes no sense, or the experiment takes none without a driver.
        LockHeldError: A driver or another request has the lock.
        LeaseHeldError: A driver or another request has the lease.
        StorageError: The journal cannot be read or written; nothing was appended.
    """
    if not (folder / JOURNAL).is_file():
        raise ControlError(f"{folder} holds no experiment")
    check_takes_requests(folder)
    try:
        with claimed(folder) as claim:
            scan = _scanned(folder / JOURNAL, event.request)
            if (answer := _answer(scan)) is not None:
                return answer
            event, codec = _prepared(event, scan, folder)
            _append(folder, claim.lock, event, scan, codec)
            claim.publish(scan.offset)
            return Answer(scan.n + 1, event.trial_id if event.what != "add" else "", waits=True)
    except PermissionError as error:
        raise ControlError(f"{folder} may not be written: {error.strerror}", "foreign") from None


def check_takes_requests(folder: Path) -> None:
    """Refuse a simulation: it takes no request from another process, with and without a driver.

    Raises:
        ControlError: It is one.
        StorageError: The journal cannot be read.
    """
    if header_in(folder / JOURNAL).get("parts", {}).get("engine") == "Simulated":
        raise ControlError(
            f"{folder} is a simulation, whose resume repeats its events: it takes only stop and note, from "
            "the process that runs it"
        )


def _append(folder: Path, lock: WriterLock, event: Requested, scan: _Scan, codec: Codec) -> None:
    writer = JournalWriter.reopen(folder / JOURNAL, "sync", codec, lock)
    try:
        for _ in writer.entries(scan.n, scan.offset, scan.time):
            raise ControlError(f"{folder} is written by another program")
        writer.append([Record(scan.n + 1, event)])
        if scan.end is not None and event.what not in _REOPENING:
            writer.note("end", scan.end)  # It stays finished.
    finally:
        writer.close()


def _scanned(journal: Path, request: str) -> _Scan:
    """Read a journal; only lines that matter are decoded."""
    lines, scan = Lines(journal), _Scan({})
    wanted = f'"request":{json.dumps(request)}'.encode()
    body = b""
    for body in lines:
        if lines.n == 1:
            scan.header = put_together(checked_header(journal, body), journal.parent)
            continue
        if (found := _TIME.match(body)) is not None:
            scan.time = float(found[1])
            if b'"c":"added"' in body:
                scan.trials += [one.decode() for one in _ADDED.findall(body)]
            if wanted in body and b'"e":"requested"' in body[:40]:
                scan.known = lines.n, body
    scan.n, scan.offset = lines.n, lines.offset
    if _END.match(body):
        facts = loads(body.decode() + "}")
        scan.end = {name: value for name, value in facts.items() if name not in ("n", "e")}
    return scan


def _answer(scan: _Scan) -> Answer | None:
    if scan.known is None:
        return None
    n, body = scan.known
    facts = loads(body.decode() + "}")
    added = _ADDED.search(body)
    trial_id = added[1].decode() if added else "" if facts.get("what") == "add" else facts.get("trial_id", "")
    return Answer(n, trial_id, waits=bool(facts.get("deferred")))


def _prepared(event: Requested, scan: _Scan, folder: Path) -> tuple[Requested, Codec]:
    """Return the request as it is recorded, and the codec of the journal."""
    parts = scan.header.get("parts", {})
    changes: dict[str, Any] = {"time": scan.time, "deferred": True}
    for name in ("trial_id", "source"):
        if wanted := getattr(event, name):
            try:
                changes[name] = find_trial(wanted, scan.trials, folder)
            except OvertoneError as error:
                raise ControlError(str(error), "wrong") from None
    try:
        space = space_from_data(parts.get("space") or {})
    except SpaceError as error:
        if event.what == "add":
            raise ControlError(
                f"{folder}: its space is known to its script alone ({error}), so that a trial can be added "
                "only while it runs"
            ) from None
        space = {}
    if event.what == "add":
        _check(event, space, scan)
    codec = Codec(partial(encode_config, space), partial(decode_config, space))
    return replace(event, **changes), codec


def _check(event: Requested, space: Any, scan: _Scan) -> None:
    """Refuse a config that the next driver would refuse."""
    root = parse(space)
    try:
        if not event.trial_id:
            completion(root, scan.header.get("seed", 0))(dict(event.config or {}), len(scan.trials), None)
        elif event.config and root.items:
            pin(root, event.config)
    except SpaceError as error:
        raise ControlError(str(error), "wrong") from None
