"""The warm server: it has imported the user's modules, and forks a process for each trial.

It is a fresh process, so it never runs the user's script again. `requests` lists its requests and
answers. When the driver hangs up, or dies, all processes below the server are killed.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import time
import warnings
from typing import Any, NoReturn

from overtone.core.job import Job
from overtone.worker import output, process_tree
from overtone.worker.limits.limit_usage import UsageFile
from overtone.worker.limits.limit_watch import LimitWatch
from overtone.worker.limits.memory_guard import MemoryGuard, expose
from overtone.worker.message_codec import Message, message_frame
from overtone.worker.server import run_trial as _body  # noqa: F401  (loaded here, once, for all forks)
from overtone.worker.server.driver_environment import explain, load_job, take_over
from overtone.worker.server.fork import run_forked, unsafe_to_fork
from overtone.worker.server.orphan_guard import stand_guard
from overtone.worker.server.python_command import new_python
from overtone.worker.server.requests import BOOT_SERVER, GUARD, KILL, NEW, REQUEST, TERMINATE, UNWATCH, WATCH
from overtone.worker.server.spawn import spawn
from overtone.worker.sigterm import Board
from overtone.worker.stacks import answer_requests

STRAY_GRACE_S = 0.25
"""Time from SIGTERM to SIGKILL for processes that a trial left, in seconds."""

END_WITHIN_S = 3.0


def main(loaded_from: int, parent: int) -> NoReturn:
    """Run as the server; descriptor 0 is the connection to the driver.

    Args:
        loaded_from: Descriptor of the Job if the server restarted itself, to be without the threads
            and the CUDA context of its first run; else -1.
        parent: The pid of the process that started this one.
    """
    if loaded_from < 0:
        parent = stand_guard(parent)
    gc.disable()  # until there is a trial: imports make no garbage worth the time
    try:
        os.setsid()
    except PermissionError:
        pass  # it leads a session already, from its first life
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    output.show_lines_at_once()
    process_tree.adopt_orphans()
    answer_requests()  # also for the forks
    server = TrialServer(control, parent)
    server.watch_parent()
    server.prepare(loaded_from)
    server.loop()


class TrialServer:
    """A server, from its first request to the driver's end.

    Args:
        control: The connection to the driver.
        parent: The pid of the guard, or of the driver if there is no guard.
    """

    def __init__(self, control: socket.socket, parent: int) -> None:
        self._control = control
        self._parent = parent
        self._board = Board()
        self._watch: LimitWatch | None = None
        self._guard: MemoryGuard | None = None
        self._on_sigterm: Any = None  # a handler of the user's modules, for their trials
        self._job: Job | None = None  # None: each process loads the Job itself
        self._numbers: dict[int, int] = {}  # of the processes, by pid
        self._pids: dict[int, int] = {}
        self._family: set[int] = set()  # children of the server that belong to no trial
        self._exited: list[tuple[int, int]] = []  # not reported yet: strays still run
        self._strays_until: float | None = None
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        os.set_blocking(self._wake_read, False)

    # --- life -----------------------------------------------------------------------

    def watch_parent(self) -> None:
        """End with the guard, or at its signal, even while the user's modules are being imported."""
        signal.signal(signal.SIGHUP, lambda signum, frame: self._end())
        signal.signal(signal.SIGCONT, lambda signum, frame: self._end_as_orphan())
        process_tree.wake_with_parent()
        self._end_as_orphan()

    def _end_as_orphan(self) -> None:
        if os.getppid() != self._parent:
            self._end()

    def prepare(self, loaded_from: int) -> None:
        """Load the Job, or determine that each process has to load it."""
        note = ""
        self._file = loaded_from if loaded_from >= 0 else self._receive_file()
        self._surroundings = take_over(self._file)
        is_warm = self._surroundings.is_warm and loaded_from < 0
        if is_warm:
            try:
                job = load_job(self._file, self._surroundings)
            except BaseException as error:
                self._tell(("broken", *explain(error)))
                os._exit(1)
            note = unsafe_to_fork()
            if note:
                self._tell(("ready", False, note))
                self._start_anew()
            self._job = job
            self._on_sigterm = signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if sys.version_info >= (3, 12):
                # warnings about forks with threads; `unsafe_to_fork` has checked the threads
                warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
            gc.freeze()  # a child's collector then leaves the pages that it shares alone
        if self._surroundings.limits is not None:
            self._watch = LimitWatch(self._surroundings.limits, tally=UsageFile(self._surroundings.folder))
        self._family = process_tree.children(os.getpid())
        # without a Python handler, SIGCHLD would not reach the wake-up descriptor
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        if loaded_from < 0:
            self._tell(("ready", is_warm, ""))

    def _receive_file(self) -> int:
        _, descriptors, _, _ = socket.recv_fds(self._control, REQUEST.size, 1)
        if not descriptors:
            os._exit(0)  # the driver hung up
        return descriptors[0]

    def _start_anew(self) -> NoReturn:
        """Replace this process by a new server that has not imported the user's modules."""
        os.dup2(self._control.fileno(), 0)
        os.set_inheritable(self._file, True)
        os.execv(sys.executable, new_python(BOOT_SERVER, str(self._file), str(self._parent)))

    def loop(self) -> NoReturn:
        """Serve until the driver is gone."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        poll.register(self._board.reader, select.POLLIN)
        board = self._board.reader.fileno()
        while True:
            for descriptor, _ in poll.poll(self._wait_ms()):
                if descriptor == self._wake_read:
                    self._drain_wakeups()
                elif descriptor == board:
                    self._read_board()
                else:
                    self._on_request()
            self._end_as_orphan()
            self._reap()
            if self._watch is not None:
                self._enforce(self._watch)
            if self._guard is not None:
                self._save_memory(self._guard)

    def _wait_ms(self) -> float | None:
        if self._strays_until is not None:
            return 5
        waits = [one.wait_s() for one in (self._watch, self._guard) if one is not None]
        if not process_tree.IS_WOKEN:
            waits.append(process_tree.LOOK_EVERY_S)
        return min((1000 * one for one in waits if one is not None), default=None)

    def _read_board(self) -> None:
        for pid in self._board.read():
            if pid in self._numbers:
                self._tell(("noticed", self._numbers[pid]))

    def _enforce(self, watch: LimitWatch) -> None:
        """Kill the trials that exceeded a limit, with all their descendants."""
        for number, index, error, family in watch.look():
            self._tell(("limit", number, index, error))
            for pid in family:
                _signal(pid, signal.SIGKILL)

    def _save_memory(self, guard: MemoryGuard) -> None:
        """Kill the trial that uses too much memory, if any, with all its descendants."""
        found = guard.look()
        if found is not None:
            self._tell(("memory", found.number, found.index, guard.explain(found)))
            for pid in found.family | set(found.pids.values()):
                _signal(pid, signal.SIGKILL)
            return
        largest = guard.news()
        if largest is not None:
            self._tell(("largest", largest.number, largest.index, guard.explain(largest)))

    def _drain_wakeups(self) -> None:
        try:
            os.read(self._wake_read, 4096)
        except BlockingIOError:
            pass  # a signal between poll and here was read already

    def _end(self) -> NoReturn:
        """Kill everything below this process, and exit."""
        give_up_at = time.monotonic() + END_WITHIN_S
        while time.monotonic() < give_up_at:
            below = process_tree.children(os.getpid()) or set(self._numbers)
            for pid in below:
                _signal(pid, signal.SIGKILL)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                break  # no descendant is left; orphans would have become children
            time.sleep(0.001)
        if self._watch is not None:
            self._watch.keep()
        if self._guard is not None:
            self._guard.neighbours.close()
        os._exit(0)

    def _tell(self, message: Message) -> None:
        try:
            self._control.sendall(message_frame(message))
        except OSError:
            self._end()

    # --- requests -------------------------------------------------------------------

    def _on_request(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, REQUEST.size, 3)
        except ConnectionError:
            data, descriptors = b"", []
        if not data:
            self._end()
        what, number, index, amount = REQUEST.unpack(data)
        if what == NEW:
            self._make_process(number, descriptors)
            return
        if what == GUARD:
            self._guard = MemoryGuard(number / 1e6)
            return
        pid = self._pids.get(number)
        if pid is None:
            return  # it has exited; the driver will read so
        if what == TERMINATE:
            try:
                os.killpg(pid, signal.SIGTERM)
            except ProcessLookupError:
                _signal(pid, signal.SIGTERM)  # it has not got as far as setsid
        elif what == WATCH:
            if self._watch is not None:
                self._watch.begin(number, pid, index)
            if self._guard is not None:  # until its process is gone: while it is paused it holds its memory
                self._guard.begin(number, pid, index, amount)
        elif what == UNWATCH and self._watch is not None:
            self._watch.end(number)
        elif what == KILL:
            _signal(pid, signal.SIGKILL)  # its descendants are ended when it is reaped

    def _make_process(self, number: int, descriptors: list[int]) -> None:
        try:
            job = self._job
            if job is None:
                pid = spawn(self._file, descriptors, self._board.writer)
            else:
                pid = self._fork(job, descriptors)
        except OSError as error:
            self._tell(("failed", number, str(error)))
            return
        finally:
            for one in descriptors:
                os.close(one)
        if self._guard is not None:
            expose(pid)
        self._numbers[pid] = number
        self._pids[number] = pid
        self._tell(("forked", number, pid))

    def _fork(self, job: Job, descriptors: list[int]) -> int:
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                process_tree.become_trial_process(server, self._on_sigterm)
                self._control.close()
                self._board.reader.close()
                unused = [] if self._guard is None else self._guard.neighbours.descriptors
                for one in (self._wake_read, self._wake_write, self._file, *unused):
                    os.close(one)
                run_forked(job, self._surroundings, descriptors, self._board.writer)
            finally:
                os._exit(1)
        return pid

    # --- ends -----------------------------------------------------------------------

    def _reap(self) -> None:
        """Report exited processes to the driver after their descendants are gone."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            self._read_board()  # a SIGTERM that ended it has been written there
            number = self._numbers.pop(pid, None)
            if number is not None:
                del self._pids[number]
                if self._watch is not None:
                    self._watch.end(number)
                self._exited.append((number, status))
        if not self._exited and self._strays_until is None:
            return
        # children that are not trial processes are orphans of trials that have ended
        strays = process_tree.children(os.getpid()) - self._numbers.keys() - self._family
        if strays:
            self._chase(strays)
            return
        self._strays_until = None
        for number, status in self._exited:
            if self._guard is not None:
                self._blame(self._guard, number, status)
            self._tell(("exited", number, status))
        self._exited.clear()

    def _blame(self, guard: MemoryGuard, number: int, status: int) -> None:
        """Report a trial that the kernel killed for its memory before the guard did."""
        suspect = guard.blame(number)
        if suspect is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            self._tell(("memory", number, suspect.index, guard.explain(suspect)))
        guard.end(number)

    def _chase(self, strays: set[int]) -> None:
        """Send SIGTERM first, so that helpers such as multiprocessing's resource tracker clean up."""
        now = time.monotonic()
        if self._strays_until is None:
            self._strays_until = now + STRAY_GRACE_S
            for pid in strays:
                _signal(pid, signal.SIGTERM)
        elif now > self._strays_until + END_WITHIN_S:
            self._family |= strays  # not even SIGKILL ends them: their trial must not wait forever
        elif now > self._strays_until:
            for pid in strays:
                _signal(pid, signal.SIGKILL)


def _signal(pid: int, signum: int) -> None:
    try:
        os.kill(pid, signum)
    except (ProcessLookupError, PermissionError):
        pass  # it is gone, or it has become another user's
