"""What a result costs where event files are written, and how late it is there.

    python benchmarks/event_files.py

- The processor's time for a result in the process that writes event files. A thread of the driver would take
  as much from the loop, since threads share Python's lock. `instructions.py events` counts the driver's.
- The time from a result in the journal to the same result in its event file.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from overtone.core.messages import Record, Reported
from overtone.journal.codec import Codec
from overtone.journal.header import new_header
from overtone.journal.text import dumps
from overtone.observers.tensorboard.event_process import write_events
from overtone.observers.tensorboard.scalars import TensorBoard
from overtone.store.folder_mark import FolderMark
from overtone.testing.scripted_records import Story

RESULTS, LATE = 20_000, 10


def records() -> list[Record]:
    """Return the records of a trial with many results, as an engine with processes gives them."""
    story = Story()
    trial = story.add({"lr": 0.1, "momentum": 0.9})
    story.start(trial)
    for t in range(RESULTS):
        story.report(trial, loss=1 / (t + 1), accuracy=0.5, step=t)
    found = []
    for n, record in enumerate(story.records, 2):
        event = record.event
        raw = replace(event, raw=dumps(event.metrics)) if isinstance(event, Reported) else event
        found.append(replace(record, n=n, event=raw))
    return found


def cpu_us(work: Callable[[], object]) -> float:
    """Return the processor's time of `work` for each result, in microseconds."""
    began = time.process_time()
    work()
    return (time.process_time() - began) / RESULTS * 1e6


def journal(folder: Path, written: Sequence[Record]) -> Path:
    """Write a journal and return its path."""
    path, codec = folder / "journal.jsonl", Codec()
    lines = [codec.encode_fact(1, "header", new_header(1, {})), *map(codec.encode, written)]
    path.write_bytes(b"".join(lines))
    return path


def lags(folder: Path, written: Sequence[Record]) -> list[float]:
    """Return the seconds from a result's line in the journal to the growth of its event file."""
    path, codec = journal(folder, written[:10]), Codec()
    observer = TensorBoard(folder)
    observer.on_record(written[0])
    time.sleep(0.2)
    observer.flush()
    found = []
    for record in written[10 : 10 + LATE]:
        before = size(folder)
        while not before:
            time.sleep(0.05)
            before = size(folder)
        began = time.monotonic()
        with open(path, "ab") as file:
            file.write(codec.encode(record))
        while size(folder) == before:
            time.sleep(0.005)
        found.append(time.monotonic() - began)
    observer.close()
    return found


def size(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.glob("*/events*"))


def main() -> None:
    written = records()
    with tempfile.TemporaryDirectory(prefix="overtone_events_") as root:
        one, other = Path(root, "one"), Path(root, "other")
        for folder in (one, other):
            folder.mkdir()
        journal(one, written)
        in_process_us = cpu_us(lambda: write_events(FolderMark.of(one)))
        late_s = lags(other, written)
    print(f"event files: {in_process_us:.1f} us a result in their process")
    print(f"lag: median {statistics.median(late_s):.2f} s, at most {max(late_s):.2f} s")


if __name__ == "__main__":
    main()
