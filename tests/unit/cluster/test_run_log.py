"""The log of a run with a terminal: its parts are bounded, and its offsets stay."""

from __future__ import annotations

import errno
import os

from overtone.cluster.head import _Reading
from overtone.cluster.run_log import KEPT_PARTS, LogWriter, end, first_offset, parts, read
from overtone.cluster.supervise import EXPERIMENTS, RESUME
from overtone.run.resume.target import ENVIRONMENT as resume_variable
from overtone.run.storage.experiment_list import ENVIRONMENT as list_variable


def test_old_parts_go_and_offsets_stay(tmp_path):
    writer = LogWriter(tmp_path, part_bytes=100)
    for n in range(100):
        writer.write(b"%09d\n" % n)
    writer.close()
    assert end(tmp_path) == 1000
    assert len(parts(tmp_path)) == KEPT_PARTS
    assert first_offset(tmp_path, 0) == 700
    assert b"".join(read(tmp_path, 905)) == b"".join(b"%09d\n" % n for n in range(90, 100))[5:]
    assert b"".join(read(tmp_path, 700)).startswith(b"000000070\n")
    assert first_offset(tmp_path, -20) == 980


def test_a_full_disk_drops_output_and_says_so(tmp_path, monkeypatch):
    writer = LogWriter(tmp_path)
    writer.write(b"before\n")
    monkeypatch.setattr(os, "write", lambda fd, data: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    writer.write(b"lost\n")
    monkeypatch.undo()
    writer.write(b"after\n")
    writer.close()
    assert b"".join(read(tmp_path, 0)) == (
        b"before\n\r\n[5 bytes of output were lost: the disk was full]\r\nafter\n"
    )


def test_what_profiles_print_is_not_a_log():
    found = []
    reading = _Reading(lambda offset, data: found.append((offset, data)))
    for data in (b"Welcome!\noverto", b"ne-log:1", b"2\nfi", b"rst\n"):
        reading.take(data)
    assert found == [(12, b""), (12, b"fi"), (14, b"rst\n")]


def test_the_variables_of_a_run_are_those_that_it_reads():
    assert resume_variable == RESUME
    assert list_variable == EXPERIMENTS
