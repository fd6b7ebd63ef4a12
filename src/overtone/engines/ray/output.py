"""Output of trials on all nodes, as lines at the driver or in the trials' files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TextIO

from overtone.core.job import Job
from overtone.engines.kept_output import KeptOutput, kept_output
from overtone.engines.prints import write_output
from overtone.store.folder_mark import mark_of
from overtone.worker.message_codec import Message

MOST_OPEN = 64

SAID_WITHIN_S = 2.0
"""Seconds after which another thread prints a line itself, because the engine's thread is blocked."""


class Output:
    """Writer of the trials' output that nodes send.

    Args:
        job: The Job, which determines whether output goes to files.
        write: Called with (trial_id, stream, text); text is whole lines.
    """

    def __init__(self, job: Job, write: Callable[[str, str, str], None]) -> None:
        self._job, self._write = job, write
        self._kept: KeptOutput | None = None
        self._files: dict[tuple[str, str], TextIO] = {}

    def say(self, text: str) -> None:
        """Write a line of the engine itself."""
        self._write("", "stderr", f"overtone: {text}\n")

    def say_from_thread(self, text: str, soon: Callable[[Callable[[], None]], None]) -> None:
        """Write a line from another thread, even if the engine's thread waits for Ray.

        Args:
            text: The line.
            soon: Makes the engine's thread call a function.
        """
        is_said = threading.Event()

        def say() -> None:
            if not is_said.is_set():
                is_said.set()
                self.say(text)

        soon(say)
        if not is_said.wait(SAID_WITHIN_S):
            is_said.set()
            write_output("", "stderr", f"overtone: {text}\n")

    def show(self, message: Message, node: str, keeps: bool = False) -> None:
        """Write the lines of an "output" message of a node; with `keeps`, keep them for the node."""
        _, trial_id, name, pid, stream, lines = message
        if self._job.log_to_file is not None and trial_id:
            self._to_file(trial_id, stream, lines)
            return
        if keeps and trial_id:
            self._keep(trial_id, stream, lines)
        prefix = f"({name} pid={pid}, ip={node}) " if name else ""
        self._write(trial_id, stream, "".join(f"{prefix}{line}\n" for line in lines))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()
        if self._kept is not None:
            self._kept.close()

    def _keep(self, trial_id: str, stream: str, lines: list[str]) -> None:
        if self._kept is None:
            self._kept = kept_output(self._job)
        if self._kept is not None:
            self._kept.put(trial_id, stream, lines)

    def _to_file(self, trial_id: str, stream: str, lines: list[str]) -> None:
        assert self._job.log_to_file is not None
        file = self._files.get((trial_id, stream))
        if file is None:
            if len(self._files) >= MOST_OPEN:
                self._files.pop(next(iter(self._files))).close()
            path = mark_of(self._job).make(trial_id) / self._job.log_to_file[stream == "stderr"]
            file = self._files[trial_id, stream] = path.open("a", encoding="utf-8", buffering=1)
        file.write("".join(f"{line}\n" for line in lines))
