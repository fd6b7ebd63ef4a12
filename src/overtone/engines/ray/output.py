"""What trials print on all nodes, as lines at the driver or in the trials' files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from overtone.core.job import Job
from overtone.worker.message_codec import Message

MOST_OPEN = 64


class Output:
    """Shows what nodes send of the prints of trials.

    Args:
        job: Says whether it goes to files.
        write: Called with (trial_id, stream, text), whole lines.
    """

    def __init__(self, job: Job, write: Callable[[str, str, str], None]) -> None:
        self._job, self._write = job, write
        self._files: dict[tuple[str, str], TextIO] = {}

    def say(self, text: str) -> None:
        """A line of the engine's own."""
        self._write("", "stderr", f"overtone: {text}\n")

    def show(self, message: Message, node: str) -> None:
        """An "output" message of a node."""
        _, trial_id, name, pid, stream, lines = message
        if self._job.log_to_file is not None and trial_id:
            self._to_file(trial_id, stream, lines)
            return
        prefix = f"({name} pid={pid}, ip={node}) " if name else ""
        self._write(trial_id, stream, "".join(f"{prefix}{line}\n" for line in lines))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _to_file(self, trial_id: str, stream: str, lines: list[str]) -> None:
        assert self._job.log_to_file is not None
        file = self._files.get((trial_id, stream))
        if file is None:
            if len(self._files) >= MOST_OPEN:
                self._files.pop(next(iter(self._files))).close()
            folder = self._job.folder / trial_id
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / self._job.log_to_file[stream == "stderr"]
            file = self._files[trial_id, stream] = path.open("a", encoding="utf-8", buffering=1)
        file.write("".join(f"{line}\n" for line in lines))
