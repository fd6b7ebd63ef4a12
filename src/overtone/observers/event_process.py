"""The body of the process that writes TensorBoard event files, through tensorboardX.

It reads batches from standard input until an empty one, or until its parent is gone.
"""

from __future__ import annotations

import marshal
import os
import struct
import sys
import time
from typing import Any

from overtone.journal.text import loads
from overtone.observers.appending import append
from overtone.observers.flatten import flatten

FLUSH_EVERY_S = 1.0

_NUMBERS = frozenset({float, int})
_MOST_STEPS = 1 << 63
_NO_SCALARS = frozenset({"training_iteration", "timestamp", "done"})
_SCHEME = "overtone"
_HPARAMS = "hparams"
_CHUNK_BYTES = 1 << 20


def main(folder: str) -> None:
    """Write event files below `folder`; what goes wrong is the last thing on standard output."""
    os.nice(5)  # trials come first
    try:
        _spare_imports()
        files = EventFiles(folder)
        for batch in _batches(files):
            for kind, trial, wall, text in batch:
                files.on_message(kind, trial, wall, text)
        files.close()
        os._exit(0)  # the run waits for this process, which has nothing to tidy up
    except Exception as error:
        sys.stdout.write(f"{type(error).__name__}: {error}\n")
        sys.stdout.flush()
        os._exit(1)


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


def _batches(files: EventFiles) -> Any:
    """The batches from standard input; between them files are flushed."""
    from select import select

    fd = sys.stdin.fileno()
    data = bytearray()
    while True:
        while len(data) < 4 or len(data) < 4 + struct.unpack_from("<I", data)[0]:
            if not select([fd], [], [], FLUSH_EVERY_S if files.is_dirty else None)[0]:
                files.flush()
                continue
            chunk = os.read(fd, _CHUNK_BYTES)
            if not chunk:
                return
            data += chunk
        end = 4 + struct.unpack_from("<I", data)[0]
        batch = marshal.loads(bytes(data[4:end]))
        del data[:end]
        if not batch:
            return
        yield batch
        files.flush_now_and_then()


class _File:
    """A file that is open only while it is flushed, so that there may be any number of them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> None:
        self._waiting.append(data)

    def flush(self) -> None:
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting.clear()
            append(self._path, data)

    def close(self) -> None:
        self.flush()


class _Factory:
    """Lets tensorboardX write through `_File`."""

    def open(self, path: str) -> _File:
        return _File(path.partition(":")[2])


class EventFiles:
    """One event file in each trial's folder.

    Args:
        folder: The experiment's.

    Attributes:
        is_dirty: Whether something waits to be written.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._writers: dict[str, Any] = {}
        self._dirty: set[str] = set()
        self._tags: dict[str, str] = {}
        self._flushed = time.monotonic()
        import tensorboardX.crc32c
        import tensorboardX.record_writer
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto import plugin_hparams_pb2
        from tensorboardX.proto.api_pb2 import Status
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary, SummaryMetadata

        tensorboardX.record_writer.register_writer_factory(_SCHEME, _Factory())
        if tensorboardX.crc32c._crc32c_native is None:
            from overtone.observers.crc32c import crc32c

            # its own, a loop over bytes, is most of the cost of an event
            tensorboardX.record_writer.crc32c = crc32c
        self._event, self._summary, self._value = Event, Summary, Summary.Value
        self._metadata, self._hparams, self._status = SummaryMetadata, plugin_hparams_pb2, Status
        self._make_writer = EventsWriter

    @property
    def is_dirty(self) -> bool:
        return bool(self._dirty)

    def on_message(self, kind: str, trial: str, wall: float, text: str) -> None:
        """Take note of a trial's start (with its config), of a result, or of its end (with its status).

        Args:
            trial: The name of its folder.
        """
        if kind == "result":
            self._on_result(trial, wall, loads(text))
        elif kind == "start":
            if trial not in self._writers:
                self._write(trial, self._session_start(wall, loads(text)), wall)
        elif kind == "end":
            if trial not in self._writers:  # it ended before it began
                return
            self._write(trial, self._session_end(wall, text), wall)
            self._writers.pop(trial).close()
            self._dirty.discard(trial)
        else:
            raise ValueError(f"{kind!r} is no message of this process")

    def _on_result(self, trial: str, wall: float, metrics: dict[str, Any]) -> None:
        make, tags = self._value, self._tags
        values = []
        for key, value in flatten(metrics).items():
            if type(value) in _NUMBERS:
                tag = tags.get(key)
                if tag is None:
                    tag = tags[key] = "" if key in _NO_SCALARS else f"tune/{key}"
                if tag:
                    values.append(make(tag=tag, simple_value=_single(value)))
        self._write(trial, self._summary(value=values), wall, _step(metrics))

    def _write(self, trial: str, summary: Any, wall: float, step: int = 0) -> None:
        writer = self._writers.get(trial)
        if writer is None:
            prefix = f"{_SCHEME}:{self._folder}{os.sep}{trial}{os.sep}events"
            writer = self._writers[trial] = self._make_writer(prefix)
        writer.write_event(self._event(wall_time=wall, step=step, summary=summary))
        self._dirty.add(trial)

    # --- the HParams tab ---------------------------------------------------------------

    # No summary of the whole experiment is written: without one TensorBoard gathers the
    # parameters and metrics of all trials, with one it takes those of a single trial for all.

    def _session_start(self, wall: float, config: dict[str, Any]) -> Any:
        info = self._hparams.SessionStartInfo(start_time_secs=wall)
        for key, value in flatten(config).items():
            if isinstance(value, bool):
                info.hparams[key].bool_value = value
            elif isinstance(value, (int, float)):
                info.hparams[key].number_value = value
            elif value is not None:
                info.hparams[key].string_value = str(value)
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
        for trial in self._dirty:
            self._writers[trial].flush()
        self._dirty.clear()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write all, and forget the trials."""
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()
        self._dirty.clear()


def _step(metrics: dict[str, Any]) -> int:
    """The first number that says how far the trial is, and that a file has room for."""
    for name in ("timesteps_total", "training_iteration"):
        step: Any = metrics.get(name)
        if type(step) in _NUMBERS and 0 < step < _MOST_STEPS:
            return int(step)
    return 0


def _single(value: float) -> float:
    """`value` as a float, which protobuf then makes single."""
    try:
        return float(value)
    except OverflowError:  # an int beyond all floats
        return float("inf") if value > 0 else float("-inf")
