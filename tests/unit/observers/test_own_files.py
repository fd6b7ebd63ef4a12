"""Files of Overtone's names that trials wrote themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overtone.observers.files.constant_text import params_text
from overtone.observers.files.own_files import is_own
from overtone.observers.files.trial_files import TrialFiles

ID = "358bb_00001"
LINE = b'{"loss":1.0,"timesteps_total":null,"trial_id":"358bb_00001","pid":1}\n'
PARAMS = params_text({"lr": 0.1, "layers": [1, 2]}).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("result.json", LINE + LINE),
        ("result.json", LINE[:10]),
        ("result.json", bytes(512)),
        ("progress.csv", b"loss,trial_id,pid\n1.0,358bb_00001,1\n"),
        ("progress.csv", b"loss,tri"),
        ("params.json", PARAMS),
        ("params.json", PARAMS[:9]),
        ("error.txt", b"killed by signal 9\n"),
        ("error.txt", b"Traceback (most recent call last):\n  File"),
        ("error.txt", b"torch.cuda.OutOfMemoryError: no\nKeyError\n"),
        ("error.txt", b"KeyError\n"),
        ("events.out.tfevents.1.vm", b"..._hparams_/session_start_info..."),
    ],
)
def test_what_overtone_writes_is_its_own_also_if_it_is_torn(name: str, data: bytes) -> None:
    assert is_own(name, ID, data)
    assert is_own(name, ID, b"")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("result.json", json.dumps({"loss": 1.0}).encode()),
        ("result.json", b'{"loss": 1.0}\n{"loss": 0.5}\n'),
        ("result.json", LINE.replace(b"00001", b"00002")),
        ("result.json", b'{\n  "loss": 1.0\n}\n'),
        ("progress.csv", b"epoch,loss\n1,0.5\n"),
        ("params.json", b"lr = 0.1"),
        ("params.json", json.dumps({"lr": 0.1, "layers": [1, 2]}).encode()),
        ("params.json", json.dumps({"lr": 0.1, "layers": [1, 2]}, indent=2).encode()),
        ("error.txt", b"The largest error was 0.5\n"),
        ("error.txt", b"0.5\n"),
        ("events.out.tfevents.1.vm.123.0", b"...brain.Event:2...loss..."),
        ("events.out.tfevents.1.vm", b"..._hparams_/experiment..._hparams_/session_start_info..."),
    ],
)
def test_what_a_trial_writes_is_not(name: str, data: bytes) -> None:
    assert not is_own(name, ID, data)


@pytest.mark.parametrize("text", [b"largest error: 0.5\n", b"rmse: 0.5\n", b"rmse 0.5"])
def test_of_a_trial_that_never_failed_a_text_about_errors_is_its_own(text: bytes) -> None:
    assert not is_own("error.txt", ID, text, has_failed=False)
    assert is_own("error.txt", ID, b"Traceback (most recent call last):\n", has_failed=False)


@pytest.mark.parametrize("write", ["add", "put", "change"])
def test_a_file_that_is_there_before_the_first_text_stays(tmp_path: Path, write: str) -> None:
    (tmp_path / ID).mkdir()
    path = tmp_path / ID / "result.json"
    path.write_text('{"mine": 1}')
    files = TrialFiles(tmp_path)
    getattr(files, write)(ID, "result.json", "text" if write != "change" else str.upper)
    files.add(ID, "progress.csv", "loss\n")
    files.close()
    files.add(ID, "result.json", "more")
    files.check()
    assert path.read_text() == '{"mine": 1}'
    assert path.with_name("progress.csv").read_text() == "loss\n"


@pytest.mark.parametrize("text", ['{"mine": 1}', json.dumps({"mine": "x" * 1000})])
def test_a_file_that_takes_the_place_of_ours_stays(tmp_path: Path, text: str) -> None:
    files = TrialFiles(tmp_path)
    files.add(ID, "result.json", LINE.decode())
    files.close()
    path = tmp_path / ID / "result.json"
    path.write_text(text)
    files.add(ID, "result.json", LINE.decode())
    files.check()
    assert path.read_text() == text


def test_our_own_files_are_continued_by_the_next_driver(tmp_path: Path) -> None:
    for _ in range(2):
        files = TrialFiles(tmp_path)
        files.add(ID, "result.json", LINE.decode())
        files.put(ID, "params.json", PARAMS.decode())
        files.check()
    assert (tmp_path / ID / "result.json").read_bytes() == LINE * 2
    assert (tmp_path / ID / "params.json").read_bytes() == PARAMS
