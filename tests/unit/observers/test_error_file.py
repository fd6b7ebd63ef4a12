from __future__ import annotations

from overtone.core.messages import Ended, Record
from overtone.observers.files.error_file import ErrorFile
from overtone.observers.files.trial_files import TrialFiles


def test_every_failure_is_kept_whole(tmp_path) -> None:
    observer = ErrorFile(TrialFiles(tmp_path))
    traceback = "Traceback (most recent call last):\n  ...\nValueError: ü\n"
    ends = [
        Ended(1.0, "t", 0, "raised", "ValueError: ü", traceback),
        Ended(2.0, "t", 1, "killed", "killed by SIGKILL"),
        Ended(3.0, "t", 2, "returned"),
        Ended(3.0, "u", 0, "halted", "late"),
    ]
    for n, end in enumerate(ends, 1):
        observer.on_record(Record(n, end))
    observer.close()
    assert (tmp_path / "t" / "error.txt").read_text() == f"{traceback}killed by SIGKILL\n"
    assert not (tmp_path / "u").exists()


def test_it_is_there_at_once_where_that_is_asked_for(tmp_path) -> None:
    observer = ErrorFile(TrialFiles(tmp_path, is_prompt=True))
    observer.on_record(Record(1, Ended(2.0, "t", 1, "killed", "killed by SIGKILL")))
    assert (tmp_path / "t" / "error.txt").read_text() == "killed by SIGKILL\n"
