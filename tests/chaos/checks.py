"""What must hold of an experiment that suffered: nothing lost, nothing doubled, nothing left."""

from __future__ import annotations

import csv
import json
import os
import struct
import time
from collections import Counter
from pathlib import Path

from overtone.core.messages import Reported, Ruled
from overtone.journal.reader import read
from overtone.reading.journal_index import JournalIndex

Shown = dict[str, list[tuple[int, int]]]
"""By trial: (t, nonce) of each result, in order."""

MARK = "OVERTONE_CHAOS"


def in_journal(folder: Path) -> Shown:
    found: Shown = {}
    for record in read(folder / "journal.jsonl"):
        event = record.event
        if isinstance(event, Reported):
            redone = any(isinstance(one, Ruled) and one.what == "redone" for one in record.choices)
            if not redone:
                found.setdefault(event.trial_id, []).append((event.t, event.metrics["nonce"]))
    return found


def in_json(folder: Path) -> Shown:
    found: Shown = {}
    for path in folder.glob("*/result.json"):
        for line in path.read_text().splitlines():
            result = json.loads(line)
            assert result["trial_id"] == path.parent.name
            found.setdefault(result["trial_id"], []).append((result["training_iteration"], result["nonce"]))
    return found


def in_csv(folder: Path) -> Shown:
    found: Shown = {}
    for path in folder.glob("*/progress.csv"):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                assert None not in row.values(), f"{path}: {row}"
                found.setdefault(path.parent.name, []).append(
                    (int(row["training_iteration"]), int(row["nonce"]))
                )
    return found


def in_events(folder: Path) -> Shown:
    from tensorboardX.proto.event_pb2 import Event

    found: Shown = {}
    for path in sorted(folder.glob("*/events.out.tfevents.*")):
        data = path.read_bytes()
        while data:
            (size,) = struct.unpack_from("<Q", data)
            event = Event.FromString(data[12 : 12 + size])
            values = {one.tag: one.simple_value for one in event.summary.value}
            if "tune/nonce" in values:
                found.setdefault(path.parent.name, []).append((event.step, int(values["tune/nonce"])))
            data = data[16 + size :]
    return found


def acknowledged(root: Path) -> Shown:
    found: Shown = {}
    for path in (root / "acks").glob("*"):
        for line in path.read_text().splitlines():
            t, nonce = line.split()
            found.setdefault(path.name, []).append((int(t), int(nonce)))
    return found


def nothing_acknowledged_is_lost(root: Path, folder: Path, runs_ahead: bool = False) -> None:
    """What `report` returned from is in the journal, also right after the driver was killed."""
    journal = in_journal(folder) if (folder / "journal.jsonl").exists() else {}
    for trial, noted in acknowledged(root).items():
        there = set(journal.get(trial, ()))
        redone = {t for t, _ in there} if runs_ahead else ts_redone(folder, trial)
        lost = [(t, nonce) for t, nonce in noted if (t, nonce) not in there and t not in redone]
        assert not lost, f"{trial}: acknowledged, and not in the journal: {lost}"


def ts_redone(folder: Path, trial: str) -> set[int]:
    """The iterations that were done again: the first time counts, and has another nonce."""
    return {
        record.event.t
        for record in read(folder / "journal.jsonl")
        if isinstance(record.event, Reported)
        and record.event.trial_id == trial
        and any(isinstance(one, Ruled) and one.what == "redone" for one in record.choices)
    }


def all_agree(folder: Path, tensorboard: bool = True) -> Shown:
    """Journal and files hold the same results in the same order, none of them twice."""
    journal = in_journal(folder)
    for trial, results in journal.items():
        doubled = [t for t, count in Counter(t for t, _ in results).items() if count > 1]
        assert not doubled, f"{trial}: {doubled} more than once"
    for name, found in (
        ("result.json", in_json(folder)),
        ("progress.csv", in_csv(folder)),
        *([("TensorBoard", in_events(folder))] if tensorboard else []),
    ):
        for trial in journal.keys() | found.keys():
            here, there = found.get(trial, []), journal.get(trial, [])
            assert here == there, f"{name} of {trial}: {_difference(here, there)}"
    return journal


def all_ended(folder: Path, trials: int, length: int) -> None:
    """No trial is stuck, each has all its results, and nobody holds anything."""
    index = JournalIndex(folder / "journal.jsonl")
    index.refresh()
    table = index.table
    states = {row.id: row.status for row in table.rows.values()}
    assert list(states.values()) == ["TERMINATED"] * trials, states
    assert table.used == {}, f"still held: {table.used}"
    for trial, results in in_journal(folder).items():
        assert [t for t, _ in results] == list(range(1, length + 1)), f"{trial}: {results}"


def processes(mark: str) -> dict[int, str]:
    """The living processes of an experiment, by pid: they inherit its mark."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            environment = Path("/proc", entry, "environ").read_bytes()
            if f"{MARK}={mark}\0".encode() in environment:
                state = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX":
                    found[int(entry)] = Path("/proc", entry, "cmdline").read_text().replace("\0", " ")[:400]
        except OSError:  # it ended meanwhile, or is not ours
            continue
    return found


def nothing_runs(mark: str, within_s: float = 15.0) -> None:
    """All processes of an experiment are gone, or will soon be."""
    deadline = time.monotonic() + within_s
    while (left := processes(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, f"still running: {left}"


def _difference(here: list, there: list) -> str:
    at = next(
        (i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there))
    )
    return f"from result {at} on {here[at : at + 3]}, in the journal {there[at : at + 3]} ({len(here)} and {len(there)})"
