"""Trackers as projections of a journal: nothing doubles, nothing is lost, and no tracker holds up a run."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from overtone import tune
from overtone.cli import main
from overtone.cli.commands import sync
from overtone.control import holder as holders
from overtone.core.table import TrialTable
from overtone.engines.simulated import Simulated
from overtone.errors import ArgumentError, MissingPackageError
from overtone.journal.lock import WriterLock
from overtone.observers.trackers.mark import MarkFile, marks, read_mark
from overtone.observers.trackers.projection import follow_journal
from overtone.observers.trackers.tracker import Steps, TrackerCallback, place_name
from overtone.observers.trackers.trackers import Trackers
from overtone.reading.journal_index import JournalIndex
from overtone.store.cache import note_origin
from overtone.store.folder_mark import FolderMark
from overtone.worker.process_tree import parents

sys.path.insert(0, str(Path(__file__).parent))  # also for the processes of trackers

from line_tracker import LineTracker


def curve(config, t):
    if config["x"] == 3:
        raise RuntimeError("three is unlucky")
    return {"score": config["x"] * t} if t <= 4 else None


def search(folder, *callbacks):
    options = {"engine": Simulated(workers=2), "verbose": 0, "raise_on_failed_trial": False, "name": "search"}
    return tune.run(
        curve, config={"x": tune.grid_search([2, 1, 3, 4])}, metric="score", mode="max",
        callbacks=list(callbacks), storage_path=str(folder), **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of an experiment without trackers."""
    folder = tmp_path_factory.mktemp("done")
    search(folder)
    return folder / "search"


def complete(folder):
    """Return the lines of a tracker that has all of the search."""
    table = JournalIndex(Path(folder, "journal.jsonl"))
    table.refresh()
    expected = Counter()
    for row in table.table.rows.values():
        expected[row.id, "FAILED" if row.error else "FINISHED"] += 1
        for t in range(1, row.n_results + 1):
            expected[row.id, "result", t, row.config["x"] * t] += 1
    return expected


def results(tracker):
    """Return the lines about results and ends."""
    kinds = ("result", "FINISHED", "FAILED", "KILLED")
    return Counter(tuple(line) for line in tracker.lines() if line[1] in kinds)


class Sync:
    """Sends a journal in this process."""

    def __init__(self, folder, tracker):
        self.folder, self.tracker, self.problems = FolderMark.of(folder), tracker, []
        self.file = MarkFile(self.folder, place_name(tracker.kind, tracker.settings()))

    def run(self):
        assert self.file.acquire()
        try:
            follow_journal(
                self.folder,
                self.tracker,
                self.file,
                lambda: True,
                time.sleep,
                self.problems.append,
                self.problems.append,
            )
        finally:
            self.file.release()
        return self.file.read()


def in_process(folder, tracker):
    """Send a journal in a process of its own, as `overtone sync` does; return whether all is there."""
    index = JournalIndex(Path(folder, "journal.jsonl"))
    index.refresh()
    return Trackers(folder, [tracker], index.table).finish()


def test_a_run_tells_its_tracker_everything(tmp_path):
    tracker = LineTracker(tmp_path / "lines")
    search(tmp_path, tracker)
    assert results(tracker) == complete(tmp_path / "search")
    begun = [line[2] for line in tracker.lines() if line[1] == "begin"]
    assert sorted(one["x"] for one in begun) == [1, 2, 3, 4]
    last_best = [line[0] for line in tracker.lines() if line[1] == "best"][-1]
    assert last_best.endswith("_00003")  # x=4
    (mark,) = marks(tmp_path / "search", ["lines"])
    assert (mark.n_sent, mark.settings) == (12, {"path": str(tmp_path / "lines")})


def test_a_class_of_the_user_is_called_with_all_hooks(tmp_path):
    class Mine(LineTracker):
        def log_trial_result(self, iteration, trial, result):
            super().log_trial_result(iteration, trial, {**result, "score": -result["score"]})

    tracker = Mine(tmp_path / "lines")
    search(tmp_path, tracker)
    assert {line[3] for line in tracker.lines() if line[1] == "result"} == {
        -x * t for x in (1, 2, 4) for t in (1, 2, 3, 4)
    }


@pytest.mark.parametrize("whole", [False, True])
def test_a_second_sync_sends_nothing_again(done, tmp_path, whole):
    tracker = LineTracker(tmp_path / "lines", whole)
    assert Sync(done, tracker).run().n_sent == 12
    assert results(tracker) == complete(done)
    size = tracker.path.stat().st_size
    tracker.path.unlink()
    Sync(done, LineTracker(tracker.path, whole)).run()
    assert not tracker.path.exists()
    assert size > 0


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("lines", range(21))
def test_an_end_at_any_moment_doubles_and_loses_nothing(done, tmp_path, monkeypatch, lines, is_after, whole):
    class End(BaseException):
        pass

    class Ends(LineTracker):
        def _write(self, *line):
            is_time = len(self.lines()) == lines
            if is_after or not is_time:
                super()._write(*line)
            if is_time:
                raise End

    with pytest.raises(End):
        Sync(done, Ends(tmp_path / "lines", whole)).run()
    tracker = LineTracker(tmp_path / "lines", whole)
    Sync(done, tracker).run()
    assert results(tracker) == complete(done)


def test_a_killed_process_doubles_and_loses_nothing(done, tmp_path, capfd):
    path, whole = tmp_path / "lines", True
    assert not in_process(done, LineTracker(path, whole, dies_at=7))
    assert "its process was killed" in capfd.readouterr().err
    assert in_process(done, LineTracker(path, whole))
    assert results(LineTracker(path)) == complete(done)


def test_a_server_that_comes_back_gets_all(tmp_path):
    tracker, down = LineTracker(tmp_path / "lines"), tmp_path / "down"
    down.touch()
    waiting = threading.Timer(1.5, down.unlink)
    waiting.start()
    search(tmp_path, tracker)
    waiting.join()
    assert results(tracker) == complete(tmp_path / "search")


def test_a_black_hole_is_waited_for_for_a_time(tmp_path, capfd):
    hang = tmp_path / "hang"
    hang.touch()
    search(tmp_path, LineTracker(tmp_path / "lines", wait_s=2.0), LineTracker(tmp_path / "two", wait_s=2.0))
    said = capfd.readouterr().err
    folder = tmp_path / "search"
    assert f"lines lacks 12 of 12 results (not done within 2 s): overtone sync {folder} --to lines" in said
    hang.unlink()
    assert in_process(folder, LineTracker(tmp_path / "lines"))
    assert results(LineTracker(tmp_path / "lines")) == complete(folder)


def test_a_wait_that_is_interrupted_says_so(done, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr("overtone.observers.trackers.trackers.is_hurried", lambda: True)
    monkeypatch.setattr("overtone.observers.trackers.trackers._HURRIED_S", 0.1)
    (tmp_path / "hang").touch()
    assert not in_process(done, LineTracker(tmp_path / "lines"))
    assert "lines lacks 12 of 12 results (the wait was interrupted): overtone sync" in capfd.readouterr().err


def test_two_at_once_send_once(done, tmp_path, capfd):
    path = tmp_path / "lines"
    (tmp_path / "hang").touch()
    first = threading.Thread(target=in_process, args=(done, LineTracker(path)))
    second = threading.Thread(target=in_process, args=(done, LineTracker(path)))
    first.start()
    second.start()
    (tmp_path / "hang").unlink()
    first.join()
    second.join()
    assert results(LineTracker(path)) == complete(done)


def test_a_sync_follows_a_run_to_its_end(done, tmp_path, monkeypatch, capsys):
    """The driver of this run is the test: it holds the lock, and appends records."""
    folder, tracker = tmp_path / "search", LineTracker(tmp_path / "lines")
    shutil.copytree(done, folder)
    monkeypatch.setattr(sync, "_callback", lambda kind, settings: LineTracker(tracker.path))
    head, *records = (done / "journal.jsonl").read_bytes().splitlines(keepends=True)
    half = len(records) // 2
    (folder / "journal.jsonl").write_bytes(b"".join([head, *records[:half]]))
    lock, codes = WriterLock(folder / "journal.jsonl.lock"), []
    words = ["sync", str(folder), "--to", "wandb", "--offline"]
    following = threading.Thread(target=lambda: codes.append(main(words)))
    following.start()
    try:
        while not tracker.path.exists() or not results(tracker):
            time.sleep(0.02)
        assert not codes
        with open(folder / "journal.jsonl", "ab") as file:
            file.write(b"".join(records[half:]))
    finally:
        lock.release()
        following.join()
    assert codes == [0]
    assert results(tracker) == complete(done)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "search runs: wandb gets its results until it ends"
    assert said[1].startswith("wandb has all of search: 4 trials, ")


def test_a_sync_whose_process_is_killed_does_not_wait_for_the_run(done, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "search"
    shutil.copytree(done, folder)
    monkeypatch.setattr(sync, "_callback", lambda kind, settings: LineTracker(tmp_path / "lines", dies_at=3))
    lock = WriterLock(folder / "journal.jsonl.lock")
    try:
        assert main(["sync", str(folder), "--to", "wandb"]) == 1
    finally:
        lock.release()
    assert "results (its process was killed): overtone sync" in capsys.readouterr().err


def test_a_sync_of_a_run_elsewhere_with_a_url_is_refused(done, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "search"
    shutil.copytree(done, folder)
    note_origin(folder, "s3://bucket/search")
    monkeypatch.setattr(holders, "holder", lambda journal: holders.Holder(7, "elsewhere", 0.0))
    assert main(["sync", str(folder), "--to", "wandb"]) != 0
    assert "s3://bucket/search is run by process 7 on elsewhere: sync it there" in capsys.readouterr().err


def test_a_mark_of_a_lost_end_is_not_trusted(done, tmp_path):
    tracker = LineTracker(tmp_path / "lines")
    sync = Sync(done, tracker)
    mark = sync.run()
    tracker.path.unlink()
    mark.n += 5  # the journal had more, before a power cut
    sync.file.write(mark)
    Sync(done, LineTracker(tracker.path)).run()
    assert results(tracker) == complete(done)
    tracker.path.unlink()
    mark.n, mark.crc = 9, mark.crc + 1
    sync.file.write(mark)
    Sync(done, LineTracker(tracker.path)).run()
    assert results(tracker) == complete(done)


@pytest.mark.parametrize("whole", [False, True])
def test_a_mark_never_goes_back(done, tmp_path, whole):
    """A second process ends in its first batch, which begins before the mark."""

    class End(BaseException):
        pass

    class Ends(LineTracker):
        def _write(self, *line):
            super()._write(*line)
            raise End

    folder = tmp_path / "search"
    shutil.copytree(done, folder, ignore=shutil.ignore_patterns("trackers"))
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    starts = [n for n, line in enumerate(lines) if b'"RUNNING"' in line]
    journal.write_bytes(b"".join(lines[: starts[-1]]))
    before = Sync(folder, LineTracker(tmp_path / "lines", whole)).run()
    journal.write_bytes(b"".join(lines))
    sync = Sync(folder, Ends(tmp_path / "lines", whole))
    with pytest.raises(End):
        sync.run()
    after = sync.file.read()
    assert (after.n, after.n_results) >= (before.n, before.n_results)
    assert before.n > 0


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"kind": "lines"}', '{"kind": 1, "settings": {}, "key": "", "n": "x"}']
)
def test_a_damaged_mark_is_none(tmp_path, text):
    (tmp_path / "mark.json").write_text(text)
    assert read_mark(tmp_path / "mark.json") is None


def test_a_refused_action_is_left_out(done, tmp_path):
    class Refuses(LineTracker):
        def _write(self, *line):
            if line[1] == "result" and line[2] == 2:
                raise ValueError("no such number")
            super()._write(*line)

        def is_refused(self, error):
            return isinstance(error, ValueError)

    tracker = Refuses(tmp_path / "lines")
    sync = Sync(done, tracker)
    sync.run()
    assert sync.problems == ["ValueError: no such number"] * 3
    assert {line[2] for line in tracker.lines() if line[1] == "result"} == {1, 3, 4}


@pytest.mark.parametrize("first", range(7))
def test_a_full_disk_is_waited_for(done, tmp_path, monkeypatch, first):
    """The mark cannot be written at two moments."""
    tracker = LineTracker(tmp_path / "lines", whole=True)
    sync = Sync(done, tracker)
    write, fails = sync.file.write, iter([*[False] * first, True, True])

    def full(mark):
        if next(fails, False):
            raise OSError(28, "No space left on device")
        write(mark)

    monkeypatch.setattr(sync.file, "write", full)
    monkeypatch.setattr("overtone.observers.trackers.projection._FIRST_PAUSE_S", 0.0)
    sync.run()
    assert any("No space left" in one for one in sync.problems)
    assert results(tracker) == complete(done)


def test_what_cannot_be_pickled_is_told(tmp_path, capfd):
    tracker = LineTracker(tmp_path / "lines")
    tracker.lock = threading.Lock()
    search(tmp_path, tracker)
    assert "LineTracker cannot be pickled" in capfd.readouterr().err


def test_a_hook_that_raises_ends_the_tracker_alone(tmp_path, capfd):
    class Raises(LineTracker):
        def log_trial_start(self, trial):
            raise KeyError("mistake")

    assert len(search(tmp_path, Raises(tmp_path / "lines")).trials) == 4
    assert "KeyError: 'mistake'" in capfd.readouterr().err


def test_nothing_outlives_a_run(done, tmp_path):
    """Neither a child of the process, in a session of its own, nor its temporary files."""

    class Leaves(LineTracker):
        def _write(self, *line):
            import subprocess
            import tempfile

            child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
            Path(f"{self.path}.child").write_text(json.dumps([child.pid, tempfile.gettempdir(), ""]))
            time.sleep(1000)

    now = 0.0
    trackers = Trackers(done, [Leaves(tmp_path / "lines", wait_s=0.0)], TrialTable(), clock=lambda: now)
    now = 1e9
    while not (written := Path(tmp_path, "lines.child")).exists() or not written.read_text():
        trackers.flush()
        time.sleep(0.05)
    pid, folder, _ = json.loads(written.read_text())
    trackers.close()
    assert not os.path.exists(folder)
    while _is_running(pid):  # it was sent its end
        time.sleep(0.01)


def test_a_driver_that_is_killed_leaves_no_temporary_files(done, tmp_path, monkeypatch):
    """The process notices, and deletes them itself."""
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    pid = os.fork()
    if pid == 0:
        try:
            (tmp_path / "hang").touch()
            Trackers(done, [LineTracker(tmp_path / "lines", wait_s=1000.0)], TrialTable()).close()
        finally:
            os._exit(1)
    files = MarkFile(FolderMark.of(done), place_name("lines", {"path": str(tmp_path / "lines")}))
    while not files.path.exists():  # the process has begun
        time.sleep(0.05)
    (child,) = [one for one, parent in parents() if parent == pid]
    assert len(os.listdir(temporary)) == 1
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    while Path(f"/proc/{child}").exists() and Path(f"/proc/{child}/stat").read_text().split()[2] != "Z":
        time.sleep(0.05)
    assert not os.listdir(temporary)


def _is_running(pid):
    """Return whether a process is there, and is more than an entry that its parent has not asked for."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_steps_only_grow():
    steps = Steps()
    assert [steps.next(one) for one in (1, 2, 5, 3, 4, 9, None)] == [1, 2, 5, 6, 7, 9, 10]


def test_two_trackers_of_one_place_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="same arguments"):
        search(tmp_path, LineTracker(tmp_path / "lines"), LineTracker(tmp_path / "lines"))


def test_a_missing_package_is_named():
    class Absent(TrackerCallback):
        kind, package, distribution = "absent", "no_such_package", "no-such-package"

    with pytest.raises(MissingPackageError, match="pip install no-such-package"):
        Absent()
