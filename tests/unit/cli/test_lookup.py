from __future__ import annotations

from pathlib import Path

import pytest

from overtone.cli.exit_codes import NotFoundError
from overtone.cli.lookup import journal_of, trial_id
from overtone.errors import ArgumentError, OvertoneError


def test_an_experiment_is_a_folder_a_journal_a_name_or_its_beginning(tell, results, monkeypatch):
    tell("train_1").close()
    journal = results / "train_1" / "journal.jsonl"
    monkeypatch.chdir(results / "train_1")
    for name in (
        str(results / "train_1"),
        str(journal),
        f"file://{results}/train_1",
        "train_1",
        "tr",
        ".",
        str(results / "tra"),
    ):
        assert journal_of(name) == journal


def test_names_are_looked_up_below_dir(tell, tmp_path):
    tell("train_1").close()
    tell("train_1", tmp_path / "other").close()
    for directory in (str(tmp_path / "other"), f"file://{tmp_path}/other"):
        assert journal_of("train_1", directory) == tmp_path / "other" / "train_1" / "journal.jsonl"
    with pytest.raises(ArgumentError, match="s3://bucket/results: must be a folder of this machine"):
        journal_of("train_1", "s3://bucket/results")


def test_a_folder_here_that_is_no_experiment_does_not_hide_a_name(tell, results, tmp_path, monkeypatch):
    tell("train_1").close()
    (tmp_path / "train_1").mkdir()
    monkeypatch.chdir(tmp_path)
    assert journal_of("train_1") == results / "train_1" / "journal.jsonl"


def test_a_beginning_of_several_names_is_refused(tell):
    tell("train_1").close()
    tell("train_2").close()
    with pytest.raises(NotFoundError, match="train_1, train_2"):
        journal_of("train")


def test_what_is_not_there_is_told_with_what_is(tell):
    tell("train_1").close()
    with pytest.raises(NotFoundError, match="has train_1; did you mean 'train_1'"):
        journal_of("trian_1")


def test_a_trials_folder_names_its_experiment(search):
    (search / "358bb_00000").mkdir()
    with pytest.raises(NotFoundError, match="the experiment is"):
        journal_of(str(search / "358bb_00000"))


def test_a_url_of_a_kind_that_is_not_known_is_told():
    pytest.importorskip("fsspec")
    with pytest.raises(OvertoneError):
        journal_of("nosuchthing://bucket/x")


IDS = [f"358bb_{index:05d}" for index in range(12)]


@pytest.mark.parametrize(
    ("wanted", "index"),
    [("358bb_00003", 3), ("3", 3), ("11", 11), ("00011", 11), ("358bb_0001", None), ("358bb_00011/", 11)],
)
def test_a_trial_is_an_id_its_beginning_its_end_or_an_index(wanted, index):
    if index is None:
        with pytest.raises(NotFoundError, match="358bb_00010, 358bb_00011"):
            trial_id(wanted, IDS, Path("exp"))
    else:
        assert trial_id(wanted, IDS, Path("exp")) == IDS[index]


def test_the_only_trial_that_begins_so_is_meant():
    assert trial_id("35", IDS[:1], Path("exp")) == IDS[0]


@pytest.mark.parametrize("wanted", ["12", "x", "-1", ""])
def test_a_trial_that_is_not_there_is_told_with_those_that_are(wanted):
    with pytest.raises(NotFoundError, match="358bb_00000"):
        trial_id(wanted, IDS, Path("exp"))
