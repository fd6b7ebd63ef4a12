"""One writer at a URL: a lease with a fencing number, renewed while its holder runs.

    lease/000001.json   {"token": ..., "hostname": ..., "pid": ..., "since": ..., "time": ..., "is_over": ...}
    lease/000002.json   the holder's file: the highest number is valid

A driver takes the lease by creating the file with the next number; only one driver can do that. If
a holder finds a number higher than its own, it has lost the lease. Its later writes carry its lower
number, so readers recognise them. Leases are never deleted, so numbers only grow.

Taking a lease never compares the clocks of two machines. A holder is dead if its file did not
change while a watcher counted `EXPIRE_S` seconds on its own monotonic clock. Only readers that
report the current holder compare clocks first.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from overtone.errors import StorageError
from overtone.quantity_text import age_text
from overtone.store.failures import UnreachableError
from overtone.store.files import RemoteFiles
from overtone.store.processes import is_alive
from overtone.store.retrying import persist

RENEW_S = 5.0
EXPIRE_S = 30.0
"""A lease that was not renewed for this time, by the watcher's clock, may be taken."""

LOOK_S = 1.0
"""Interval at which a watcher checks whether a lease is renewed, in seconds."""

SEEN_WITHIN_S = RENEW_S + 2 * LOOK_S
"""Longest time that a reader waits for a renewal, in seconds."""

_MOST_APART_S = 86_400.0
"""Upper bound of the difference between the clocks of two machines, in seconds."""

SETTLE_S = 2.0
"""Time until a write is visible to all, if creating is not atomic, in seconds."""

T = TypeVar("T")
_held: set[str] = set()  # the tokens of this process
_NAME = re.compile(r"lease/(\d{6,})\.json")


class LeaseHeldError(StorageError):
    """Another driver holds the lease of this experiment."""


class LeaseLostError(StorageError):
    """Another driver has taken the lease of this experiment."""


class Lease:
    """A lease, held from `acquire` to `release`, or until it was not renewed for `EXPIRE_S`.

    Attributes:
        number: The fencing number: higher than that of every earlier holder.
    """

    def __init__(self, files: RemoteFiles, number: int, now: Callable[[], float] = time.time) -> None:
        import platform

        self.number = number
        self._files = files
        self._now = now
        self._facts: dict[str, Any] = {
            "token": os.urandom(16).hex(),
            "hostname": platform.node(),
            "pid": os.getpid(),
            "machine": _machine(),
            "since": now(),
        }
        self._lost: LeaseLostError | None = None
        self._is_closing = threading.Event()
        self._renewer: threading.Thread | None = None

    @classmethod
    def acquire(
        cls,
        files: RemoteFiles,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        patience_s: float = 0.0,
        say: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Lease:
        """Take the lease of the experiment at `files`.

        A lease is free at once if its holder released it, or was a process of this machine and is gone.
        Any other lease is watched until it is renewed, or for `EXPIRE_S`.

        Args:
            now: Returns the wall-clock time, for people who read the lease.
            patience_s: Longest time of retries if the store fails, in seconds.
            say: Called with a line when the store fails, and before a lease is watched.
            clock: Returns monotonic seconds.

        Raises:
            LeaseHeldError: Another driver holds the lease; the message names host, pid and age.
            StorageError: The store failed.
        """

        def ask(action: Callable[[], T]) -> T:
            return persist(action, patience_s, sleep=sleep, say=say)

        number, holder = ask(lambda: _newest(files))
        if number and not _is_free(holder):
            alive = _watched(files, number, holder, ask, sleep, clock, say)
            if alive is not None:
                raise _refused(files.url, alive, now())
        lease = cls(files, number + 1, now)
        data = lease._text()
        _held.add(lease._facts["token"])  # before the file is visible: a token not in here counts as dead
        try:
            if files.is_exclusive:
                ask(lambda: files.create(lease._name, data))
            else:
                ask(lambda: files.write(lease._name, data))
                sleep(SETTLE_S)
            ask(lambda: lease._check_own(now()))
            # a server that does not support "create only" succeeds a second time
            if files.is_exclusive and ask(lambda: files.create(lease._name, data)):
                sleep(SETTLE_S)
                ask(lambda: lease._check_own(now()))
        except BaseException:
            _held.discard(lease._facts["token"])
            raise
        return lease

    def keep(self) -> None:
        """Renew the lease in a thread, until `release`."""
        self._renewer = threading.Thread(target=self._renew_all, name="overtone-lease", daemon=True)
        self._renewer.start()

    def check(self) -> None:
        """Return if the lease was still held a moment ago, by a read from the store.

        Call it right before each write: a driver may have been frozen for hours since the last write.

        Raises:
            LeaseLostError: Another driver has taken the lease.
            StorageError: The store cannot be read; an UnreachableError if the read took too long to
                be conclusive.
        """
        if self._lost is None:
            began = _ticks()
            found = self._files.read(_name(self.number + 1))
            if found is not None:
                self._lost = self._is_lost_to(parsed(found))
            elif _ticks() - began > EXPIRE_S / 2:  # this process was frozen, or the store is very slow
                raise UnreachableError(f"{self._files.url}: its lease could not be read in time")
        if self._lost is not None:
            raise self._lost

    def renew(self) -> None:
        """Renew the lease: write the current time to its file.

        Raises:
            StorageError: The write failed, or the lease is lost.
        """
        self._check_own(self._now())
        self.check()
        self._files.write(self._name, self._text())

    def release(self) -> None:
        """Release the lease, so that it is free at once. If that fails, the lease expires."""
        self._is_closing.set()
        _held.discard(self._facts["token"])
        if self._renewer is not None:
            self._renewer.join()
            self._renewer = None
        if self._lost is None:
            self._facts["is_over"] = True
            try:
                self._files.write(self._name, self._text())
            except StorageError:
                pass  # without renewals the lease expires

    # --- parts -------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return _name(self.number)

    def _text(self) -> bytes:
        return json.dumps({**self._facts, "time": self._now()}).encode()

    def _check_own(self, now: float) -> None:
        """Check that no other driver has written the lease of this number."""
        if self._lost is not None:
            raise self._lost
        holder = parsed(self._files.read(self._name))
        if holder.get("token") != self._facts["token"]:
            if self._renewer is None:
                raise _refused(self._files.url, holder, now)
            self._lost = self._is_lost_to(holder)
            raise self._lost

    def _renew_all(self) -> None:
        while not self._is_closing.wait(RENEW_S):
            try:
                self.renew()
            except LeaseLostError:
                return  # `check` reports it to the next writer
            except Exception:
                pass

    def _is_lost_to(self, holder: dict[str, Any]) -> LeaseLostError:
        return LeaseLostError(
            f"{self._files.url} was taken over by {_who(holder)}, since this driver (process {os.getpid()}) "
            f"had not been heard of for {EXPIRE_S:.0f} s: it stops writing. What it recorded since is in its "
            "local folder only"
        )


def check_fence(files: RemoteFiles, number: int) -> None:
    """Return if no driver took the lease after the holder of this number, or the number is 0.

    For processes that write for the holder without its `Lease`.

    Raises:
        LeaseLostError: Another driver has taken the lease.
        StorageError: The store cannot be read.
    """
    found = files.read(_name(number + 1)) if number else None
    if found is not None:
        raise LeaseLostError(
            f"{files.url} was taken over by {_who(parsed(found))}: the driver before writes nothing there"
        )


def holder(
    files: RemoteFiles,
    now: Callable[[], float] | None = None,
    watches: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any] | None:
    """Return the lease contents of the driver that seems to be at work there now; None if none does.

    Args:
        watches: Whether to wait up to `SEEN_WITHIN_S` for a renewal of a lease that is old by this
            machine's clock, since the clocks of machines may differ. A lease more than a day old is
            not watched.

    Raises:
        StorageError: The lease cannot be read.
    """
    number, found = _newest(files)
    said_at = found.get("time")
    if not number or _is_free(found) or not isinstance(said_at, (int, float)):
        return None
    apart_s = abs((now or time.time)() - said_at)  # a clock that is ahead must not make the dead alive
    if apart_s <= EXPIRE_S:
        return found
    waits = SEEN_WITHIN_S if watches and apart_s < _MOST_APART_S else 0.0
    while waits > 0:
        sleep(LOOK_S)
        waits -= LOOK_S
        newest = _newest(files)
        if newest != (number, found):
            return None if _is_free(newest[1]) else newest[1]
    return None


def writer_of(files: RemoteFiles, number: int) -> str:
    """Return the holder of the lease of this number, such as "process 12 on host"."""
    return _who(parsed(files.read(_name(number))))


def _newest(files: RemoteFiles) -> tuple[int, dict[str, Any]]:
    """Return the number of the last lease (0 if there is none) and its contents."""
    numbers = [int(found[1]) for name in files.sizes("lease") if (found := _NAME.fullmatch(name))]
    if not numbers:
        return 0, {}
    return max(numbers), parsed(files.read(_name(max(numbers))))


def _is_free(holder: dict[str, Any]) -> bool:
    """Return whether the holder released the lease, or is certainly dead."""
    return bool(holder.get("is_over")) or _is_gone(holder)


def _watched(
    files: RemoteFiles,
    number: int,
    holder: dict[str, Any],
    ask: Callable[[Callable[[], tuple[int, dict[str, Any]]]], tuple[int, dict[str, Any]]],
    sleep: Callable[[float], None],
    clock: Callable[[], float],
    say: Callable[[str], None] | None,
) -> dict[str, Any] | None:
    """Watch a lease until its holder is seen alive; return None if the holder is dead.

    The last look is always later than `EXPIRE_S` after the first: a watcher that was itself frozen in
    between sees a renewal by the holder.
    """
    if holder.get("token") in _held:
        return holder  # this process
    if say is not None:
        say(
            f"{files.url} was last written by {_who(holder)}: watching for up to {EXPIRE_S:.0f} s whether "
            "that driver is alive"
        )
    since = clock()
    while True:
        sleep(LOOK_S)
        watched_s = clock() - since
        newest, found = ask(lambda: _newest(files))
        if (newest, found) != (number, holder):
            return None if newest == number and _is_free(found) else found
        if watched_s > EXPIRE_S:
            return None


def _is_gone(holder: dict[str, Any]) -> bool:
    """Return whether the holder was on this machine and is no longer at work."""
    if not holder.get("machine") or holder["machine"] != _machine():
        return False
    if holder.get("pid") == os.getpid():
        return holder.get("token") not in _held
    try:
        return not is_alive(int(holder["pid"]))
    except (ValueError, KeyError):
        return False


def _ticks() -> float:
    """Return monotonic seconds that include the time of suspension, if the system supports that."""
    kind = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(kind) if kind is not None else time.monotonic()


def _machine() -> str:
    """Return an id of this boot of this machine and of its pid namespace; "" if unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _name(number: int) -> str:
    return f"lease/{number:06d}.json"


def parsed(data: bytes | None) -> dict[str, Any]:
    """Return the JSON object in `data`; an empty dict if there is none."""
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _who(holder: dict[str, Any]) -> str:
    if "pid" not in holder:
        return "another process, which has just begun"
    return f"process {holder['pid']} on {holder.get('hostname', 'an unknown host')}"


def _refused(url: str, holder: dict[str, Any], now: float) -> LeaseHeldError:
    age = ""
    if "since" in holder and "time" in holder:
        since, heard = age_text(now - holder["since"]), age_text(now - holder["time"])
        age = f", since {since} ago (last heard of {heard} ago)"
    return LeaseHeldError(
        f"{url} is being written by {_who(holder)}{age}: wait until that run ends, stop it, or choose "
        f"another name. A driver that is dead is taken over once its lease was not "
        f"renewed for {EXPIRE_S:.0f} s"
    )
