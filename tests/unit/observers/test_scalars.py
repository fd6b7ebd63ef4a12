"""Event files are read back frame by frame, with tensorboardX's own message definitions."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from overtone.core.messages import Reported
from overtone.errors import MissingPackageError, StorageError
from overtone.journal.codec import Codec
from overtone.journal.header import new_header
from overtone.observers import helper_processes
from overtone.observers.tensorboard.event_process import write_events
from overtone.observers.tensorboard.scalars import TensorBoard
from overtone.store.folder_mark import FolderMark
from overtone.testing.observer_conformance import eventful
from overtone.testing.scripted_records import Story

pytestmark = pytest.mark.skipif(find_spec("tensorboardX") is None, reason="needs tensorboardX")


def crc32c(data: bytes) -> int:
    """CRC-32C by its definition (RFC 3309)."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def frames(path: Path) -> list[bytes]:
    """The messages in an event file, with every checksum verified."""

    def masked(data: bytes) -> int:
        crc = crc32c(data)
        return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

    data, found = path.read_bytes(), []
    while data:
        (size,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12])[0] == masked(data[:8])
        assert struct.unpack("<I", data[12 + size : 16 + size])[0] == masked(data[12 : 12 + size])
        found.append(data[12 : 12 + size])
        data = data[16 + size :]
    return found


def events(folder: Path, trial: str):
    from tensorboardX.proto.event_pb2 import Event

    (path,) = (folder / trial).glob("events.out.tfevents.*")
    return [Event.FromString(one) for one in frames(path)]


def observe(folder: Path, records, wall: float = 0.0) -> None:
    """Have the event files of a run written, whose driver began at this wall time."""
    codec = Codec()
    lines = [codec.encode_fact(1, "header", {**new_header(1, {}), "wall": wall})]
    lines += [codec.encode(replace(record, n=n)) for n, record in enumerate(records, 2)]
    (folder / "journal.jsonl").write_bytes(b"".join(lines))
    observer = TensorBoard(folder)
    for record in records:
        observer.on_record(record)
    observer.close()


def scalars(found) -> list[tuple[int, dict[str, float]]]:
    return [
        (event.step, {value.tag: value.simple_value for value in event.summary.value})
        for event in found
        if event.summary.value and not event.summary.value[0].metadata.plugin_data.plugin_name
    ]


def test_scalars_and_hparams_are_read_back(tmp_path) -> None:
    from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData

    story = Story()
    trial = story.add({"lr": 0.125, "net": {"act": "relu"}, "bias": True, "none": None})
    story.start(trial)
    for t in range(3):
        story.time += 1.0
        story.report(trial, acc=t / 2, nested={"loss": math.nan}, text="x", flag=True, huge=10**400)
    story.end(trial)
    observe(tmp_path, story.records, wall=100.0)
    found = events(tmp_path, trial)
    assert found[0].file_version == "brain.Event:2"
    assert [(step, values["tune/acc"]) for step, values in scalars(found)] == [(1, 0.0), (2, 0.5), (3, 1.0)]
    values = scalars(found)[0][1]
    assert values.keys() == {"tune/acc", "tune/nested/loss", "tune/huge", "tune/time_total_s"}
    assert math.isnan(values["tune/nested/loss"])
    assert [event.wall_time for event in found[2:5]] == [101.0, 102.0, 103.0]
    start, end = found[1].summary.value[0], found[-1].summary.value[0]
    assert (start.tag, end.tag) == ("_hparams_/session_start_info", "_hparams_/session_end_info")
    assert start.metadata.plugin_data.plugin_name == "hparams"
    hparams = HParamsPluginData.FromString(start.metadata.plugin_data.content).session_start_info.hparams
    assert hparams["lr"].number_value == 0.125
    assert hparams["net/act"].string_value == "relu"
    assert hparams["bias"].bool_value is True
    assert "none" not in hparams
    status = HParamsPluginData.FromString(end.metadata.plugin_data.content).session_end_info.status
    assert status == 1  # STATUS_SUCCESS


def test_steps_are_time_steps_where_there_are_any(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.report(trial, timesteps_total=500)
    observe(tmp_path, story.records)
    assert [step for step, _ in scalars(events(tmp_path, trial))] == [500]


def test_everything_is_there_after_close_and_redone_results_are_not(tmp_path) -> None:
    observe(tmp_path, eventful())
    assert [step for step, _ in scalars(events(tmp_path, "358bb_00000"))] == [1, 2, 3, 4, 6]
    assert not (tmp_path / "358bb_00003").exists()


def test_times_are_those_of_the_run_counted_from_the_wall_time_of_its_driver(tmp_path) -> None:
    story = Story()
    story.time = 5.0
    trial = story.add({})
    story.start(trial)
    for _ in range(3):
        story.time += 1.0
        story.report(trial)
    story.end(trial)
    observe(tmp_path, story.records, wall=2e9)
    found = events(tmp_path, trial)
    assert [event.wall_time - 2e9 for event in found] == [5.0, 5.0, 6.0, 7.0, 8.0, 8.0]
    assert next((tmp_path / trial).iterdir()).name.startswith("events.out.tfevents.2000000005.")


def test_a_later_event_file_sorts_after_the_earlier_one(tmp_path) -> None:
    story = Story()
    trial = story.add({})
    story.start(trial)
    story.report(trial)
    observe(tmp_path, story.records, wall=2e9)
    observe(tmp_path, story.records, wall=1e9)  # the clock was set back between two drivers
    (path,) = (tmp_path / trial).iterdir()
    assert path.name.startswith("events.out.tfevents.2000000000.")


def test_one_strange_value_does_not_end_the_files_of_all_trials(tmp_path) -> None:
    from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData

    story = Story()
    trial = story.add({"\udc80": "\ud800", "huge": 10**400})
    story.start(trial)
    for step in ("soon", math.nan, math.inf, 10**30, None):
        story.report(trial, timesteps_total=step, **{"\ud800": 0.5, "text": "\ud800"})
    observe(tmp_path, story.records)
    found = events(tmp_path, trial)
    assert [step for step, _ in scalars(found)] == [1, 2, 3, 4, 5]
    assert {values["tune/\\ud800"] for _, values in scalars(found)} == {0.5}
    content = found[1].summary.value[0].metadata.plugin_data.content
    hparams = HParamsPluginData.FromString(content).session_start_info.hparams
    assert hparams["\\udc80"].string_value == "\\ud800"
    assert hparams["huge"].number_value == math.inf


def test_what_goes_wrong_there_is_told_here(tmp_path) -> None:
    (tmp_path / "358bb_00000").write_text("in the way")
    with pytest.raises(
        StorageError, match=r"TensorBoard files below .* cannot be written: NotADirectoryError"
    ):
        observe(tmp_path, eventful())


def test_nobody_waits_for_a_process_that_failed(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(helper_processes, "_PROGRAM", "import sys; sys.exit(3)")
    with pytest.raises(StorageError, match="cannot be written: its process ended with exit code 3"):
        observe(tmp_path, eventful())


def test_a_run_without_records_has_no_process(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(helper_processes, "started", None)
    observe(tmp_path, [])


def test_files_follow_the_journal_while_it_grows(tmp_path) -> None:
    """They go on after a record; the files of trials that are named are written from their beginning."""
    records = [replace(record, n=record.n + 1) for record in eventful()]
    other = [one for one in records if type(one.event) is Reported and one.event.trial_id == "358bb_00001"]
    codec = Codec()
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(codec.encode_fact(1, "header", new_header(1, {})))
    left = list(records)

    def rest(seconds: float) -> None:
        with open(journal, "ab") as file:
            file.write(codec.encode(left.pop(0)))

    write_events(FolderMark.of(tmp_path), lambda: not left, rest, since=other[0].n, again={"358bb_00000"})
    assert [step for step, _ in scalars(events(tmp_path, "358bb_00000"))] == [1, 2, 3, 4, 6]
    assert [step for step, _ in scalars(events(tmp_path, "358bb_00001"))] == [
        one.event.t for one in other[1:]
    ]


def test_pytorch_is_imported_nowhere(tmp_path) -> None:
    program = f"""
import sys
import overtone.observers.tensorboard.event_process
sys.modules["torch"] = None
from overtone.observers.tensorboard.scalars import TensorBoard
observer = TensorBoard({str(tmp_path)!r}, again=["a"])
observer.flush()
try:
    observer.close()
except OSError as error:
    assert "journal.jsonl cannot be read" in str(error), error
del sys.modules["torch"]
assert not [name for name in sys.modules if name.partition(".")[0] in ("torch", "tensorboardX", "numpy")]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_missing_library_is_an_error_that_names_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("overtone.observers.tensorboard.scalars.is_available", lambda: False)
    with pytest.raises(MissingPackageError, match=r'tensorboardX: pip install "overtone\[tensorboard\]"'):
        TensorBoard(tmp_path)
