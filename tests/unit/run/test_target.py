"""Which experiment a call means when it asks to resume."""

import json
import sys
import types

import pytest

from overtone.errors import OvertoneError
from overtone.journal.header import new_header
from overtone.journal.writer import JournalWriter
from overtone.run.resume import target
from overtone.run.resume.target import Wish, find, is_finished, is_running, wish


@pytest.fixture
def script(monkeypatch):
    """A `__main__` that is a file."""
    main = types.ModuleType("__main__")
    main.__file__ = "/somewhere/search.py"
    monkeypatch.setitem(sys.modules, "__main__", main)
    return main.__file__


def experiment(root, name, *, script="/somewhere/search.py", ends=False, nth=0, **more):
    folder = root / name
    folder.mkdir()
    writer = JournalWriter(folder / "journal.jsonl", {**new_header(1, {"main": script}), "nth": nth, **more})
    if ends:
        writer.note("end", {})
    writer.close()
    return folder


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, Wish()),
        (False, Wish()),
        (True, Wish("must")),
        ("AUTO", Wish("auto")),
        ("auto+errored", Wish("auto", "resume")),
        ("AUTO+RESTART_ERRORED", Wish("auto", "restart")),
        ("LOCAL", Wish("must")),
        ("LOCAL+ERRORED", Wish("must", "resume")),
        ("ERRORED_ONLY", Wish("must", "resume")),
    ],
)
def test_what_resume_means(asked, expected):
    assert wish(asked) == expected


@pytest.mark.parametrize("asked", ["YES", "PROMPT", "AUTO+", "AUTO+SOME", 3])
def test_another_word_is_an_error_that_lists_the_choices(asked):
    with pytest.raises(OvertoneError, match='choose True, False or "AUTO"'):
        wish(asked)


def test_a_named_experiment(tmp_path):
    folder = experiment(tmp_path, "exp")
    assert find(tmp_path, "exp", "train", wish(False), 0) == (None, "")
    assert find(tmp_path, "exp", "train", wish("AUTO"), 0) == (folder, "")
    assert find(tmp_path, "exp", "train", wish(True), 0) == (folder, "")
    assert find(tmp_path, "other", "train", wish("AUTO"), 0) == (None, "")
    with pytest.raises(OvertoneError, match=r"holds no experiment; there are: exp\."):
        find(tmp_path, "other", "train", wish(True), 0)


def test_a_journal_without_a_whole_header_is_none(tmp_path):
    folder = experiment(tmp_path, "exp")
    whole = (folder / "journal.jsonl").read_bytes()
    (folder / "journal.jsonl").write_bytes(whole[:-1])
    assert find(tmp_path, "exp", "train", wish("AUTO"), 0) == (None, "")
    with pytest.raises(OvertoneError, match=r"holds no experiment; there are: none\."):
        find(tmp_path, "exp", "train", wish(True), 0)


def test_without_a_name_the_newest_unfinished_one_of_this_script(tmp_path, script):
    experiment(tmp_path, "train_2026-01-01_00-00-00")
    newest = experiment(tmp_path, "train_2026-01-02_00-00-00")
    experiment(tmp_path, "train_2026-01-03_00-00-00", script="/another/script.py")
    assert find(tmp_path, None, "train", wish("AUTO"), 0) == (newest, "")
    assert find(tmp_path, None, "train", wish(True), 0) == (newest, "")
    folder, hint = find(tmp_path, None, "train", wish(False), 0)
    assert folder is None
    assert f"overtone resume {newest}" in hint
    assert hint.startswith(f"a new experiment begins; the last one of train is unfinished, in {newest}")
    assert find(tmp_path, None, "another", wish("AUTO"), 0) == (None, "")


def test_a_finished_one_is_begun_anew_unless_it_must_be_resumed(tmp_path, script):
    folder = experiment(tmp_path, "train_2026-01-01_00-00-00", ends=True)
    assert is_finished(folder)
    assert find(tmp_path, None, "train", wish("AUTO"), 0) == (None, "")
    hint = f"a new experiment begins; the last one of train, which is finished, is in {folder}"
    assert find(tmp_path, None, "train", wish(False), 0) == (None, hint)
    assert find(tmp_path, None, "train", wish(True), 0) == (folder, "")


def test_without_a_script_nothing_is_said_of_earlier_experiments(tmp_path, monkeypatch):
    main = types.ModuleType("__main__")  # a notebook, or `python -c`
    monkeypatch.setitem(sys.modules, "__main__", main)
    folder = experiment(tmp_path, "train_2026-01-01_00-00-00", script="")
    assert find(tmp_path, None, "train", wish(False), 0) == (None, "")
    assert find(tmp_path, None, "train", wish("AUTO"), 0) == (folder, "")


def test_one_that_runs_now_is_left_alone(tmp_path, script):
    folder = tmp_path / "train_2026-01-01_00-00-00"
    folder.mkdir()
    writer = JournalWriter(folder / "journal.jsonl", new_header(1, {"main": script}))
    assert is_running(folder)
    assert find(tmp_path, None, "train", wish(False), 0) == (None, "")
    writer.close()
    assert not is_running(folder)


def test_a_command_that_is_run_again_finds_each_of_its_experiments(tmp_path, script, monkeypatch):
    first = experiment(tmp_path, "train_2026-01-01_00-00-00", ends=True, nth=0)
    second = experiment(tmp_path, "train_2026-01-01_00-00-05", nth=1)
    experiment(tmp_path, "train_2026-01-02_00-00-00", nth=0, script="/another/script.py")
    stranger = tmp_path / "train_2026-01-02_00-00-00" / "journal.jsonl"
    header = json.loads(stranger.read_text().splitlines()[0])
    assert header["nth"] == 0
    stranger.unlink()
    monkeypatch.setenv(target.ENVIRONMENT, str(second))
    assert find(tmp_path, None, "train", wish(False), 0) == (first, "")
    assert find(tmp_path, None, "train", wish(False), 1) == (second, "")
    assert find(tmp_path, None, "train", wish(False), 2) == (None, "")


def test_a_command_that_is_run_again_finds_the_one_that_was_moved_aside(tmp_path, monkeypatch):
    later = experiment(tmp_path, "exp", ends=True, called="exp")
    aside = experiment(tmp_path, "exp.2026-01-01_00-00-00", called="exp")
    other = experiment(tmp_path, "other", called="other")
    monkeypatch.setenv(target.ENVIRONMENT, str(aside))
    assert find(tmp_path, "exp", "train", wish(False), 0) == (aside, "")
    assert find(tmp_path, "other", "train", wish(False), 1) == (other, "")
    assert find(tmp_path, "new", "train", wish(False), 2) == (None, "")
    monkeypatch.setenv(target.ENVIRONMENT, str(other))
    assert find(tmp_path, "exp", "train", wish(False), 0) == (later, "")
