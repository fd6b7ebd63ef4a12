"""Event files of TensorBoard."""

import struct

import pytest

from overtone.program.event_files import EventFolder


def varint(number):
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def record(step, tag, value):
    part = b"\x0a" + varint(len(tag)) + tag.encode() + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + varint(len(part)) + part
    event = (
        b"\x09" + struct.pack("<d", 1.0) + b"\x10" + varint(step) + b"\x2a" + varint(len(summary)) + summary
    )
    return struct.pack("<Q", len(event)) + b"\0" * 4 + event + b"\0" * 4


def test_steps_come_when_they_are_complete(tmp_path):
    file = tmp_path / "run" / "events.out.tfevents.1.host"
    events = EventFolder(tmp_path)
    assert events.look() == []
    file.parent.mkdir()
    last = record(300, "acc", 0.5)
    file.write_bytes(record(1, "loss", 2.0) + record(1, "acc", 0.25) + record(300, "loss", 1.0) + last[:-5])
    assert events.look() == [{"step": 1, "loss": 2.0, "acc": 0.25}]
    with open(file, "ab") as out:
        out.write(last[-5:])
    assert events.look() == []
    assert events.look() == [{"step": 300, "loss": 1.0, "acc": 0.5}]
    assert events.look(is_last=True) == []


def test_damaged_files_end(tmp_path):
    (tmp_path / "tfevents.x").write_bytes(b"\xff" * 100)
    assert EventFolder(tmp_path).look(is_last=True) == []


def test_files_of_tensorboardx_are_read(tmp_path):
    writers = pytest.importorskip("tensorboardX")
    with writers.SummaryWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_scalar("loss", 1 / (step + 1), step)
            writer.add_text("note", "x", step)
    steps = EventFolder(tmp_path).look(is_last=True)
    assert [(one["step"], round(one["loss"], 4)) for one in steps] == [(0, 1.0), (1, 0.5), (2, 0.3333)]
