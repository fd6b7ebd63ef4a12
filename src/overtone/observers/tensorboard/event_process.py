"""The process that writes TensorBoard event files through tensorboardX: it follows the journal of a run."""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any

from overtone.core.messages import Moved, Reported, Started
from overtone.core.table import TrialTable
from overtone.core.utf8 import encodable
from overtone.journal.codec import Codec
from overtone.journal.plain_reports import PLAIN_REPORT
from overtone.journal.reader import follow_lines
from overtone.journal.text import loads
from overtone.observers.file_output import append
from overtone.observers.helper_processes import follow
from overtone.space import flatten
from overtone.space.nesting import with_tuples
from overtone.store.folder_mark import JOURNAL, FolderMark

FLUSH_EVERY_S = 1.0

_NUMBERS = frozenset({float, int})
_SCALARS = _NUMBERS | {Decimal}
_MOST_STEPS = 1 << 63
_NO_SCALARS = frozenset({"training_iteration", "timestamp", "done"})
_FILE = "events.out.tfevents."
_SUFFIX = ".overtone"
"""Keeps the names apart from those of a writer that the trial opens in its folder, which is its own."""

_HPARAMS = "hparams"
_VERSION = "brain.Event:2"
_IS_FINAL = frozenset({"TERMINATED", "ERROR"})


def main(folder: str, parent: int, inode: int, since: int) -> None:
    """Write event files below `folder` as `follow` does.

    Args:
        since: See `write_events`; the trials of its `again` are a line of JSON on standard input.
    """
    again = frozenset(loads(sys.stdin.readline() or "[]"))
    _spare_imports()
    follow(folder, parent, inode, partial(write_events, since=since, again=again))


def write_events(
    mark: FolderMark,
    stop: Callable[[], bool] = lambda: True,
    sleep: Callable[[float], None] = time.sleep,
    since: int = 0,
    again: Collection[str] = (),
) -> None:
    """Write what follows from the journal after record `since`, as it grows, until `stop()` is true.

    Events have the wall time at which they happened, by the clock that their driver had when it began:
    clock jumps do not affect the files.

    Args:
        again: Trials of which everything is written.

    Raises:
        StorageError: The journal cannot be read, files cannot be written, or the folder is gone.
    """
    table = TrialTable("live")
    files = EventFiles(mark, lambda trial: table.rows[trial].config)
    began = time_s = 0.0
    decode = Codec(None, with_tuples).decode

    def rest(seconds: float) -> None:
        files.flush()
        sleep(seconds)

    for bodies in follow_lines(os.path.join(mark.folder, JOURNAL), stop, FLUSH_EVERY_S, rest):
        for body in bodies:
            if (found := PLAIN_REPORT.match(body)) is not None:
                n, time_s, trial = int(found[1]), float(found[2]), found[3].decode()
                if n > since or trial in again:
                    files.on_result(trial, began + time_s, loads(body[found.end() :].decode()))
            elif (record := decode(body)) is None:
                wall = loads(body.decode() + "}").get("wall")
                began = float(wall) - time_s if isinstance(wall, (int, float)) else began
            else:
                event, row, is_new = record.event, table.apply(record), record.n > since
                time_s, wall = event.time, began + event.time
                if type(event) is Started and (is_new or event.trial_id in again):
                    files.on_start(event.trial_id, wall)
                elif type(event) is Reported and row is not None and (is_new or row.id in again):
                    files.on_result(row.id, wall, event.metrics)
                for choice in record.choices:
                    if not isinstance(choice, Moved) or choice.status not in _IS_FINAL:
                        continue
                    if is_new or choice.trial_id in again:
                        files.on_end(choice.trial_id, wall, choice.status)
        files.flush_now_and_then()
        stop()  # so that it ends with its driver
    files.close()


def _spare_imports() -> None:
    """Let imports from tensorboardX be those of its writer alone, which take a tenth of the time."""
    from importlib.util import find_spec
    from types import ModuleType

    for name in ("torch", "boto3", "google.cloud"):  # which it tries, for what is not done here
        sys.modules[name] = None  # type: ignore[assignment]
    spec = find_spec("tensorboardX")
    if spec is not None and spec.submodule_search_locations is not None:
        package = sys.modules["tensorboardX"] = ModuleType("tensorboardX")
        package.__path__ = list(spec.submodule_search_locations)


class _File:
    """A file that is open only while it is flushed, so that there may be any number of them."""

    def __init__(self, path: str, checksum: Callable[[bytes], int]) -> None:
        self._path = path
        self._checksum = checksum
        self._waiting: list[bytes] = []

    def write(self, message: bytes) -> None:
        """Add a message in its frame."""
        for part in (struct.pack("<Q", len(message)), message):
            self._waiting += (part, struct.pack("<I", self._checksum(part)))

    def flush(self) -> None:
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting.clear()
            append(self._path, data)


class EventFiles:
    """One event file in each trial's folder.

    Each begins with the trial's config, by which a resume knows it (`own_files`).

    Args:
        mark: Of the experiment's folder.
        config_of: Returns the config of a trial.

    Attributes:
        is_dirty: Whether something waits to be written.
    """

    def __init__(self, mark: FolderMark, config_of: Callable[[str], Mapping[str, Any]]) -> None:
        self._folder = mark.folder
        self._mark, self._config_of = mark, config_of
        self._files: dict[str, _File] = {}
        self._dirty: set[str] = set()
        self._tags: dict[str, str] = {}
        self._flushed = time.monotonic()
        from socket import gethostname

        from tensorboardX.proto import plugin_hparams_pb2
        from tensorboardX.proto.api_pb2 import Status
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary, SummaryMetadata
        from tensorboardX.record_writer import masked_crc32c

        self._host = gethostname()
        self._event, self._summary, self._value = Event, Summary, Summary.Value
        self._metadata, self._hparams, self._status = SummaryMetadata, plugin_hparams_pb2, Status
        self._checksum = masked_crc32c

    @property
    def is_dirty(self) -> bool:
        return bool(self._dirty)

    def on_start(self, trial: str, wall: float) -> None:
        """Begin a trial's file, unless it has one already; `trial` is the name of its folder."""
        if trial not in self._files:
            self._begin(trial, wall)

    def on_end(self, trial: str, wall: float, status: str) -> None:
        """Write how a trial ended, if it began."""
        if trial in self._files:
            self._write(trial, self._session_end(wall, status), wall)
            self._files.pop(trial).flush()
            self._dirty.discard(trial)

    def on_result(self, trial: str, wall: float, metrics: Mapping[str, Any]) -> None:
        """Write the numbers of a result."""
        make, tags = self._value, self._tags
        values = []
        for key, value in flatten(metrics).items():
            if type(value) in _SCALARS:
                tag = tags.get(key)
                if tag is None:
                    tag = tags[key] = "" if key in _NO_SCALARS else f"tune/{encodable(key)}"
                if tag:
                    values.append(make(tag=tag, simple_value=_single(value)))
        self._write(trial, self._summary(value=values), wall, _step(metrics))

    def _write(self, trial: str, summary: Any, wall: float, step: int = 0) -> None:
        if trial not in self._files:
            self._begin(trial, wall)  # a resume takes in a last result before it starts the trial
        event = self._event(wall_time=wall, step=step, summary=summary)
        self._files[trial].write(event.SerializeToString())
        self._dirty.add(trial)

    def _begin(self, trial: str, wall: float) -> None:
        file = self._files[trial] = _File(self._new_path(trial, wall), self._checksum)
        file.write(self._event(wall_time=wall, file_version=_VERSION).SerializeToString())
        self._write(trial, self._session_start(wall, self._config_of(trial)), wall)

    def _new_path(self, trial: str, wall: float) -> str:
        """Return a path that sorts after the trial's other event files: TensorBoard reads them in order."""
        folder, second = f"{self._folder}{os.sep}{trial}", int(wall)
        with suppress(OSError):  # it is not there yet
            seconds = [name[len(_FILE) :][:10] for name in os.listdir(folder) if name.startswith(_FILE)]
            second = max([second, *(int(one) for one in seconds if one.isdecimal())])
        return f"{folder}{os.sep}{_FILE}{second:010d}.{self._host}{_SUFFIX}"

    # --- the HParams tab ---------------------------------------------------------------

    # No summary of the whole experiment is written: without one TensorBoard gathers the
    # parameters and metrics of all trials, with one it takes those of a single trial for all.

    def _session_start(self, wall: float, config: Mapping[str, Any]) -> Any:
        info = self._hparams.SessionStartInfo(start_time_secs=wall)
        for name, value in flatten(config).items():
            key = encodable(name)
            if isinstance(value, bool):
                info.hparams[key].bool_value = value
            elif isinstance(value, (int, float, Decimal)):
                info.hparams[key].number_value = _single(value)
            elif value is not None:
                info.hparams[key].string_value = encodable(str(value))
        return self._plugin_summary(
            "session_start_info", self._hparams.HParamsPluginData(session_start_info=info)
        )

    def _session_end(self, wall: float, status: str) -> Any:
        name = "STATUS_FAILURE" if status == "ERROR" else "STATUS_SUCCESS"
        info = self._hparams.SessionEndInfo(status=self._status.Value(name), end_time_secs=wall)
        return self._plugin_summary(
            "session_end_info", self._hparams.HParamsPluginData(session_end_info=info)
        )

    def _plugin_summary(self, name: str, content: Any) -> Any:
        make = self._metadata
        plugin = make.PluginData(plugin_name=_HPARAMS, content=content.SerializeToString())
        metadata = make(plugin_data=plugin)
        return self._summary(value=[self._value(tag=f"_hparams_/{name}", metadata=metadata)])

    # --- files -------------------------------------------------------------------------

    def flush_now_and_then(self) -> None:
        """Flush where that was not done for a second."""
        if time.monotonic() - self._flushed >= FLUSH_EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Write all that waits."""
        self._mark.check()
        for trial in self._dirty:
            self._files[trial].flush()
        self._dirty.clear()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write all, and forget the trials."""
        self.flush()
        self._files.clear()


def _step(metrics: Mapping[str, Any]) -> int:
    """Return the step of a result, for the axis of steps."""
    for name in ("timesteps_total", "training_iteration"):
        value = metrics.get(name)
        if type(value) in _NUMBERS and value and -_MOST_STEPS < value < _MOST_STEPS:
            return int(value)
    return 0


def _single(value: float | Decimal) -> float:
    """Return `value` as a float, which protobuf then makes single."""
    try:
        return float(value)
    except ValueError:  # a signalling NaN
        return float("nan")
    except OverflowError:  # an int beyond all floats
        return float("inf") if value > 0 else float("-inf")
