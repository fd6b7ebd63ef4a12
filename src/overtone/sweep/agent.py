"""`overtone sweep --agent EXP`: runs programs of a sweep on this machine."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from overtone.engines.local.capacity import Capacity
from overtone.errors import OvertoneError, StorageError
from overtone.program.at_agent import dropped_name
from overtone.program.shared_place import AGENTS, Files, FolderFiles, files_at, write_json
from overtone.standard_streams import say
from overtone.sweep.presence import DRIVER, EXPIRE_S, Beat, Watch, agent_file, ticks
from overtone.worker import process_tree
from overtone.worker.server.orphan_guard import stand_guard

_LOOK_S = 0.5
_KILL_AFTER_S = 3.0


def serve(place: str, cpus: float | None, gpus: int | None, wait_s: float, trusts_all: bool) -> int:
    """Run programs of the sweep at `place` until the sweep ends; return an exit code.

    The work is done by a child of a guard: if this process, the guard or the child is killed, the guard or
    the system ends all programs.

    Args:
        place: The folder or URL of the sweep.
        cpus, gpus: What programs may use; by default all of this machine.
        wait_s: Seconds to wait for a driver, when there is none.
        trusts_all: Whether to run commands that another user wrote into the folder.
    """
    if sys.platform != "linux":
        return _Agent(place, cpus, gpus, wait_s, trusts_all).serve()
    parent = os.getpid()
    ending, end = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(end)
            guard = stand_guard(parent)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            process_tree.die_with_parent()
            process_tree.adopt_orphans()
            if os.getppid() == guard:
                code = _Agent(place, cpus, gpus, wait_s, trusts_all, ending).serve()
        except OvertoneError as error:
            say(f"{error}")
        except KeyboardInterrupt:
            code = 130
        finally:
            sys.stdout.flush()
            os._exit(code)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os.write(end, b"."))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


class _Agent:
    """The loop of an agent: it renews its file, starts a process for each new task, and ends them."""

    def __init__(
        self, place: str, cpus: float | None, gpus: int | None, wait_s: float, trusts_all: bool,
        ending: int | None = None,
    ) -> None:  # fmt: skip
        self._trusts_all = trusts_all
        self._place, self._files, self._wait_s, self._ending = place, files_at(place), wait_s, ending
        self._driver = ""
        self._has_told_of_outage = False
        capacity = Capacity(cpus, gpus, None, None)
        facts: dict[str, Any] = {"resources": capacity.amounts(), "gpus": list(capacity.gpu_ids)}
        self._capacity, self._facts = capacity, facts
        self._runners: dict[str, subprocess.Popen[bytes]] = {}
        self._seen: set[str] = set()

    def serve(self) -> int:
        """Serve drivers until one says that the sweep is over, or none comes."""
        driver, gone_at = Watch(self._files, DRIVER), ticks()
        self._register()
        say(f"agent {self.name} of {self._place}: {self._capacity}")
        try:
            while not self._is_told_to_end():
                try:
                    is_alive = driver.look()
                    self._has_told_of_outage = False
                    if is_alive:
                        gone_at = ticks()
                        self._beat.renew()
                        self._follow(str(driver.facts.get("token")))
                        if self._files.read(dropped_name(self.name)) is not None:
                            self._end_all()
                            self._register()
                except (StorageError, OSError) as error:
                    is_alive = ticks() - gone_at < EXPIRE_S
                    if not is_alive and not self._has_told_of_outage:
                        self._has_told_of_outage = True
                        say(f"{self._place} cannot be reached: {error}")
                self._reap()
                if driver.facts.get("is_over") and not is_alive:
                    say(f"agent {self.name}: the sweep has ended")
                    return 0
                if not is_alive and ticks() - gone_at > EXPIRE_S:
                    self._end_all()
                    if ticks() - gone_at > self._wait_s:
                        say(f"agent {self.name}: no driver of the sweep for {self._wait_s:g} s")
                        return 1
                if self._runners and ticks() - self._beat.written_at > EXPIRE_S:
                    self._end_all()  # this process was frozen, or the storage is away: others run the trials
            return 130
        finally:
            self._end_all()
            with suppress(StorageError, OSError):
                self._beat.renew(is_over=True)

    def _is_told_to_end(self) -> bool:
        """Wait until the next look; return whether this agent was told to end meanwhile."""
        if self._ending is None:
            time.sleep(_LOOK_S)
            return False
        return bool(select.select([self._ending], [], [], _LOOK_S)[0])

    def _follow(self, run_id: str) -> None:
        """Run the tasks of the present driver, and no others."""
        if run_id != self._driver:
            self._end_all()
            self._driver = run_id
        self._start_new(run_id)

    def _register(self) -> None:
        """Take a new name, which no agent had."""
        import platform

        self.name = f"{platform.node()}-{os.getpid()}-{os.urandom(4).hex()}"
        self._beat = Beat(self._files, agent_file(self.name), self._facts)
        self._beat.renew()

    def _start_new(self, run_id: str) -> None:
        """Start a process for each task of the present driver that is new."""
        base = f"{AGENTS}/{self.name}/tasks"
        for name in self._files.sizes(base):
            task, _, kind = name.rpartition("/")
            if kind != "start.json" or task in self._seen:
                continue
            self._seen.add(task)
            if not task.endswith(f".{run_id}"):
                continue
            if not self._trusts_all and _is_foreign(self._files, name):
                say(f"agent {self.name}: {name} belongs to another user, and is not run; add --yes to run it")
                continue
            say(f"agent {self.name}: begins {task.rpartition('/')[2].partition('.')[0]}")
            self._runners[task] = subprocess.Popen(
                [sys.executable, "-m", "overtone.sweep.agent_trial", self._place, task],
                stdin=subprocess.DEVNULL, **process_tree.GROUP_OF_ITS_OWN,
            )  # fmt: skip

    def _reap(self) -> None:
        """Forget processes that ended; say for those that were killed that their trial is lost."""
        for task, runner in list(self._runners.items()):
            if runner.poll() is None:
                continue
            del self._runners[task]
            if runner.returncode:
                self._tell_killed(task, runner)
        ours = {runner.pid for runner in self._runners.values()}
        for pid in process_tree.children(os.getpid()) - ours:  # of a process that was killed
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _tell_killed(self, task: str, runner: subprocess.Popen[bytes]) -> None:
        """Tell the driver that a task has no process any more; without a storage, it notices that itself.

        A driver that has the task's end already has removed its folder, where nobody would remove a new file.
        """
        with suppress(StorageError, OSError):
            if self._files.read(f"{task}/start.json") is not None:
                write_json(self._files, f"{task}/killed.json", {"status": runner.returncode})

    def _end_all(self) -> None:
        """End all programs."""
        for runner in self._runners.values():
            runner.terminate()
        deadline = time.monotonic() + _KILL_AFTER_S
        for runner in self._runners.values():
            with suppress(subprocess.TimeoutExpired):
                runner.wait(max(0.0, deadline - time.monotonic()))
            runner.kill()
            runner.wait()
        while self._runners:
            self._tell_killed(*self._runners.popitem())


def _is_foreign(files: Files, name: str) -> bool:
    """Return whether another user wrote a file; at a URL, whoever may write there is trusted."""
    return isinstance(files, FolderFiles) and files.owner(name) != os.getuid()
