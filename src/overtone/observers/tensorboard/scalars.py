"""TensorBoard event files: scalars of every numeric metric, and the HParams tab.

They are written by a process of their own, through tensorboardX: that library would import
much into this one, PyTorch where that is installed. Here only batches are sent.
"""

from __future__ import annotations

import os
import time

from overtone.core.messages import Moved, Record, Reported, Started
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.errors import MissingPackageError
from overtone.journal.text import dumps
from overtone.observers.tensorboard.event_writer import EventWriter, Message

_IS_FINAL = frozenset({"TERMINATED", "ERROR"})


def is_available() -> bool:
    """Return whether tensorboardX is installed; it is not imported."""
    from importlib.util import find_spec

    return find_spec("tensorboardX") is not None


class TensorBoard(Observer):
    """Observer that writes one event file in each trial's folder, with tags such as "tune/mean_accuracy".

    Args:
        folder: The experiment's folder.
        table: Has each record before this observer gets it.
        began: The wall time, in seconds since 1970, at which the experiment's own clock was
            0; by default it follows from the wall clock at the first record. The wall clock is
            not read again: clock jumps do not affect the files.
        beside: Another `TensorBoard`, whose process writes the files and which closes the process.

    Raises:
        MissingPackageError: tensorboardX is not installed.
    """

    is_projection = True

    def __init__(
        self,
        folder: str | os.PathLike[str],
        table: TrialTable,
        began: float | None = None,
        beside: TensorBoard | None = None,
    ) -> None:
        if not is_available():
            raise MissingPackageError("tensorboardX", "tensorboard", "writing TensorBoard files")
        self._table = table
        self.began = began
        self._batch: list[Message] = []
        self._is_guest = beside is not None
        self._writer: EventWriter = EventWriter(os.fspath(folder)) if beside is None else beside._writer

    def on_record(self, record: Record) -> None:
        event = record.event
        if type(event) is Reported:
            row = self._table.shown
            if row is not None:
                self._batch.append(("result", row.id, self._wall(record), event.raw or dumps(event.metrics)))
        elif type(event) is Started:
            config = dumps(self._table.rows[event.trial_id].config)
            self._batch.append(("start", event.trial_id, self._wall(record), config))
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._batch.append(("end", choice.trial_id, self._wall(record), choice.status))

    def flush(self) -> None:
        if self._batch:
            self._writer.put(self._batch)
            self._batch = []

    def close(self) -> None:
        self.flush()
        if not self._is_guest:
            self._writer.close()

    def abandon(self) -> None:
        """Write nothing more, and end the process at once."""
        self._writer.abandon()

    def _wall(self, record: Record) -> float:
        if self.began is None:
            self.began = time.time() - record.event.time
        return self.began + record.event.time
