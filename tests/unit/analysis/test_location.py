from __future__ import annotations

import pytest

from overtone.analysis import ExperimentAnalysis
from overtone.errors import StorageError
from overtone.reading.location import located


def test_a_folder_and_its_journal_name_the_same_experiment(told):
    journal = told.folder / "journal.jsonl"
    assert located(told.folder) == located(str(journal)) == journal


def test_home_may_be_written_as_a_tilde(told, monkeypatch):
    monkeypatch.setenv("HOME", str(told.folder.parent))
    assert located("~/exp") == told.folder / "journal.jsonl"


def test_a_missing_path_shows_what_lies_beside_it(told):
    with pytest.raises(StorageError, match=r"'.*/epx': .* has the experiments exp; did you mean 'exp'"):
        located(told.folder.parent / "epx")


def test_a_trials_folder_names_its_experiment(told):
    trial = told.folder / "358bb_00000"
    trial.mkdir()
    with pytest.raises(StorageError, match=f"folder of one trial.*the experiment is '{told.folder}'"):
        located(trial)


def test_a_folder_of_experiments_lists_them(tell, tmp_path):
    tell("first")
    tell("second")
    with pytest.raises(StorageError, match=r"holds 2 experiments.*second'; there are first, second"):
        located(tmp_path)


def test_any_other_folder_shows_what_it_holds(tmp_path):
    for index in range(10):
        (tmp_path / f"file_{index}").touch()
    with pytest.raises(StorageError, match=r"no journal\.jsonl: it holds file_0, .*file_7 and 2 more"):
        located(tmp_path)


def test_an_empty_folder_holds_nothing(tmp_path):
    with pytest.raises(StorageError, match="it holds nothing"):
        located(tmp_path)


def test_another_file_is_no_journal(tmp_path):
    file = tmp_path / "result.json"
    file.write_text('{"loss": 1}')
    with pytest.raises(StorageError, match=r"result\.json is not a journal"):
        located(file)


@pytest.mark.parametrize("line", [1, -1])
def test_damage_in_the_first_or_the_last_record_names_the_line(told, line) -> None:
    journal = told.folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    at = 0 if line == 1 else len(lines) - 1
    lines[at] = b"{'" + lines[at][2:]
    journal.write_bytes(b"".join(lines))
    with pytest.raises(StorageError, match=rf"line {at + 1} \(byte .*damaged, its checksum does not match"):
        print(ExperimentAnalysis(told.folder).trials)
