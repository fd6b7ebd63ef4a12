"""Processes that wait for a trial: forked ahead, or used before and kept for the next one."""

from __future__ import annotations

import time
from collections.abc import Iterator

from overtone.engines.local.process import Shape, TrialProcess


class WaitingProcesses:
    """The processes without a trial, oldest first; and those that were told to end, until they are gone."""

    def __init__(self) -> None:
        self._waiting: list[TrialProcess] = []
        self._leaving: set[int] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[TrialProcess]:
        return iter(self._waiting)

    @property
    def n_idle(self) -> int:
        """Number of processes that wait, or that end since they waited."""
        return len(self._waiting) + len(self._leaving)

    def add(self, process: TrialProcess) -> None:
        """Add a process that waits from now on."""
        self._waiting.append(process)

    def take(self, shape: Shape) -> TrialProcess | None:
        """Remove and return the first process that can run a trial of this shape; None if none can."""
        for process in self._waiting:
            if process.is_open and process.shape in (None, shape):
                self._waiting.remove(process)
                return process
        return None

    def take_new(self, most: int) -> list[TrialProcess]:
        """Remove and return up to `most` processes that have run nothing."""
        new = [one for one in self._waiting if one.is_open and one.shape is None][:most]
        for process in new:
            self._waiting.remove(process)
        return new

    def unlike(self, shape: Shape) -> list[TrialProcess]:
        """Return the oldest used process, and those that see an accelerator of this shape.

        They hold memory, perhaps of a GPU, without use.
        """
        mine = _devices(shape)
        used = [one for one in self._waiting if one.shape is not None]
        return [
            one for index, one in enumerate(used) if index == 0 or (one.shape and mine & _devices(one.shape))
        ]

    def dismiss(self, process: TrialProcess) -> None:
        """Note that a process that waits is told to end."""
        self._waiting.remove(process)
        self._leaving.add(process.number)

    def forget(self, process: TrialProcess) -> None:
        """Forget a process that is gone."""
        self._leaving.discard(process.number)
        if process in self._waiting:
            self._waiting.remove(process)

    def let_go(self, patience_s: float) -> None:
        """End the processes that wait, and wait for them: a class trainable may clean up in them."""
        leaving = [one for one in self._waiting if one.is_open and one.pid]
        for process in leaving:
            process.send(None)
        give_up_at = time.monotonic() + patience_s
        for process in leaving:
            process.sock.settimeout(max(0.001, give_up_at - time.monotonic()))
            try:
                while process.sock.recv(1024):
                    pass
            except OSError:
                pass  # it does not end, or it is gone

    def clear(self) -> None:
        """Forget all processes."""
        self._waiting.clear()
        self._leaving.clear()


def _devices(shape: Shape) -> set[tuple[str, str]]:
    """Return (variable, id) of each accelerator that a process of this shape sees."""
    return {(name, device) for name, value in shape[0] for device in value.split(",") if device}
