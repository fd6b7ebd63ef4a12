"""Brings a request to the driver of an experiment, or to its journal if no driver runs."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from overtone.control.answers import Answer, ControlError, answer_in, text_in
from overtone.control.holder import Holder, holder, this_host
from overtone.control.meeting_place import connect
from overtone.control.requests import WITHOUT_DRIVER, document_of, new_id
from overtone.control.unattended import append_unattended, check_takes_requests, recorded
from overtone.control.wire import PROTOCOL, RECEIVED_BYTES, frame_of, reader
from overtone.core.messages import Requested
from overtone.errors import MessageError, StorageError
from overtone.journal.lock import LockHeldError
from overtone.store.folder_mark import JOURNAL
from overtone.store.lease import LeaseHeldError

TIMEOUT_S = 30.0
"""Seconds that a request may take by default."""

_PAUSE_S = 0.05
_NO_ONE = frozenset({errno.ENOENT, errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE, errno.ENOTDIR})


class DriverElsewhereError(ControlError):
    """The driver runs on another machine, whose name is `hostname`."""

    def __init__(self, message: object = "", hostname: str = "") -> None:
        super().__init__(message)
        self.hostname = hostname


def send(folder: Path, event: Requested, timeout_s: float = TIMEOUT_S) -> Answer:
    """Make a request to the experiment in `folder`, and return the answer once it is in the journal.

    If no driver runs, requests of the kinds in `WITHOUT_DRIVER` are appended to the journal; they take
    effect at the next resume. A request that was sent and not answered is sent again with its id, which
    makes one record.

    Args:
        timeout_s: Seconds until an answer must be there.

    Raises:
        DriverElsewhereError: The driver runs on another machine.
        ControlError: The request was refused, or no driver answers; the message says what to do.
        StorageError: The journal cannot be read or written.
    """
    if not event.request:
        event = replace(event, request=new_id())
    give_up_at, was_sent = time.monotonic() + timeout_s, False
    while True:
        left_s = give_up_at - time.monotonic()
        try:
            document, was_sent = _asked(folder, document_of(event), max(0.1, left_s), was_sent)
        except PermissionError:
            raise ControlError(_of_another_user(folder), "foreign") from None
        if document is not None:
            try:
                answer = answer_in(document)
                if event.what == "add" and not answer.trial_id:  # An earlier driver had this request.
                    return recorded(folder, event) or answer
                return answer
            except ControlError as error:
                if error.kind != "over":
                    raise
                if (known := recorded(folder, event)) is not None:  # Repeated while the run ends.
                    return known
                refused = str(error)
        else:
            refused = ""
        found = holder(folder / JOURNAL, watches=False)
        if found is None:
            if (recorded_now := _without_driver(folder, event, was_sent)) is not None:
                return recorded_now
        elif found.hostname not in (None, this_host()):
            raise DriverElsewhereError(_elsewhere(folder, found), str(found.hostname))
        elif document is None:
            _check_listens(folder)
        if time.monotonic() >= give_up_at or (refused and event.what not in WITHOUT_DRIVER):
            raise ControlError(refused or _silent(folder, found, timeout_s, was_sent), "over")
        time.sleep(_PAUSE_S)


def question(folder: Path, what: str, trial_id: str, timeout_s: float = TIMEOUT_S) -> str:
    """Return the answer of an experiment's driver to a question about a trial, as text.

    Args:
        what: The question, such as "stack".
        timeout_s: Seconds until the answer must be there.

    Raises:
        ControlError: There is no answer; the message says why.
    """
    try:
        document, _ = _asked(folder, {"what": what, "trial_id": trial_id}, timeout_s, False)
    except PermissionError:
        raise ControlError(_of_another_user(folder), "foreign") from None
    if document is not None:
        return text_in(document)
    found = holder(folder / JOURNAL, watches=False)
    if found is None:
        raise ControlError(
            f"{_place(folder)}: no driver runs this experiment, so its trials have no processes"
        )
    if found.hostname not in (None, this_host()):
        raise ControlError(_elsewhere(folder, found))
    _check_listens(folder)
    raise ControlError(_silent(folder, found, timeout_s, False), "over")


def _asked(
    folder: Path, asked: Mapping[str, Any], timeout_s: float, was_sent: bool
) -> tuple[dict[str, Any] | None, bool]:
    """Return the driver's answer, or None; and whether the request was sent, now or earlier.

    Raises:
        PermissionError: The driver belongs to another user.
        ControlError: The driver does not answer in time.
    """
    try:
        connection, token = connect(folder, timeout_s)
    except PermissionError:
        raise
    except OSError:  # Nobody listens: no driver, or one that begins or ends.
        return None, was_sent
    with connection:
        document = {"protocol": PROTOCOL, **({"token": token} if token else {}), **asked}
        try:
            frame = frame_of(document)
        except MessageError as error:
            raise ControlError(str(error), "wrong") from None
        try:
            connection.settimeout(timeout_s)
            with suppress(BrokenPipeError, ConnectionResetError):  # A refusal may still be there to be read.
                connection.sendall(frame)
                was_sent = True
            return _received(connection, timeout_s), was_sent
        except TimeoutError:
            raise ControlError(
                f"{_place(folder)}: the driver has the request and did not answer within {timeout_s:.0f} s. "
                "It may still be carried out: `overtone why` shows it then. A driver whose disk is full "
                "waits, and so does one whose trials run inside it"
            ) from None
        except OSError:
            return None, was_sent


def _received(connection: socket.socket, timeout_s: float) -> dict[str, Any] | None:
    """Return the first answer; None if the connection ended before it."""
    incoming, give_up_at = reader(), time.monotonic() + timeout_s
    while True:
        data = connection.recv(RECEIVED_BYTES)
        if not data:
            return None
        try:
            documents = incoming.feed(data)
        except MessageError as error:
            raise ControlError(f"its way in answers as no driver does: {error}", "wrong") from None
        if documents:
            return documents[0]
        connection.settimeout(max(0.01, give_up_at - time.monotonic()))


def _without_driver(folder: Path, event: Requested, was_sent: bool) -> Answer | None:
    """Return the answer that needs no driver; None if a driver begins at this moment."""
    if was_sent and (answer := recorded(folder, event)) is not None:
        return answer
    if event.what not in WITHOUT_DRIVER:
        where = _place(folder)
        what, *others = (one.replace("_", " ") for one in (event.what, *WITHOUT_DRIVER))
        raise ControlError(
            f"{where}: no driver runs this experiment, and {what!r} needs a driver. Without a driver, "
            f"{', '.join(others[:-1])} and {others[-1]} are possible. To go on with the "
            f"experiment: overtone resume {quote(where)}"
        )
    try:
        return append_unattended(folder, event)
    except (LockHeldError, LeaseHeldError):
        return None


def _check_listens(folder: Path) -> None:
    """Refuse an experiment whose driver never listens; one that has no journal yet begins at this moment.

    Raises:
        ControlError: It is a simulation.
    """
    with suppress(StorageError):
        check_takes_requests(folder)


def _place(folder: Path) -> str:
    """Return where the experiment is, as people know it."""
    from overtone.control.overview import place_of

    return place_of(folder / JOURNAL)


def _of_another_user(folder: Path) -> str:
    try:
        import pwd

        owner = pwd.getpwuid(folder.stat().st_uid).pw_name
    except (ImportError, KeyError, OSError):
        owner = "another user"
    return f"{_place(folder)} is run by {owner}, and only that user may steer it"


def _elsewhere(folder: Path, found: Holder) -> str:
    return (
        f"{_place(folder)} is run by {found}, which is another machine than this one, {this_host()}: use "
        "`overtone ctl` or `overtone ui` there, or set RAY_ADDRESS to the Ray cluster of both machines"
    )


def _silent(folder: Path, found: Holder | None, timeout_s: float, was_sent: bool) -> str:
    who = "a driver" if found is None else str(found)
    sent = " The request was sent, and may be carried out: `overtone why` shows it then." if was_sent else ""
    return (
        f"{_place(folder)} is held by {who}, which took no request for {timeout_s:.0f} s: it begins, it "
        f"ends, or its version of Overtone has no way in.{sent} Try again"
    )
