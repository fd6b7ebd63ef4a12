"""Where trials work: each in its own folder, and a driver in its own directory again afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from overtone.core.job import Job
from overtone.errors import StorageError
from overtone.store.folder_mark import LOCK, FolderGoneError, FolderMark
from overtone.testing.folder_store import FolderStore
from overtone.worker.working_directory import (
    DriversDirectory,
    enter,
    hand_over_files,
    missing_file_advice,
)

ORIGINAL = "TUNE_ORIG_WORKING_DIR"


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The driver's directory, in which this process works; everything is as before after the test."""
    directory = tmp_path / "driver"
    directory.mkdir()
    monkeypatch.delenv(ORIGINAL, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(directory)
    yield directory
    os.environ.pop(ORIGINAL, None)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(None, "train", tmp_path / "exp", chdir_to_trial_dir=True)


def test_a_process_moves_from_one_trials_folder_to_the_next(driver: Path, job: Job) -> None:
    for trial in ("a", "b"):
        enter(job, trial)
        assert Path.cwd() == job.folder / trial
        assert os.environ[ORIGINAL] == str(driver)


def test_a_folder_that_is_moved_before_it_is_entered_is_gone(
    driver: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    job.folder.mkdir()
    (job.folder / LOCK).touch()
    change = os.chdir

    def move_first(folder: Path) -> None:
        if job.folder.exists():
            job.folder.rename(job.folder.with_name("elsewhere"))
        change(folder)

    monkeypatch.setattr(os, "chdir", move_first)
    with pytest.raises(FolderGoneError):
        enter(replace(job, mark=FolderMark.of(job.folder)), "a")


def test_it_stays_where_it_is_if_the_job_says_so(driver: Path, tmp_path: Path) -> None:
    enter(Job(None, "train", tmp_path / "exp"), "a")
    assert Path.cwd() == driver
    assert os.environ[ORIGINAL] == str(driver)
    assert not (tmp_path / "exp").exists()


def test_what_the_user_said_of_the_directory_stays(
    driver: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ORIGINAL, "/data")
    enter(job, "a")
    assert os.environ[ORIGINAL] == "/data"


def test_search_paths_are_those_of_the_drivers_directory(
    driver: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    (driver / "lib").mkdir()
    (driver / "lib" / "found_from_afar.py").write_text("HERE = 1")
    monkeypatch.setattr(sys, "path", ["lib", "", "..", *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["lib", "/abs"]))
    enter(job, "a")
    assert sys.path[:3] == [str(driver / "lib"), str(driver), str(driver.parent)]
    assert os.environ["PYTHONPATH"] == os.pathsep.join([str(driver / "lib"), "/abs"])
    import found_from_afar  # type: ignore[import-not-found]

    assert found_from_afar.HERE == 1
    del sys.modules["found_from_afar"]


def test_a_driver_is_back_as_it_was_also_after_an_exception(
    driver: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ["", "lib", *sys.path]
    monkeypatch.setattr(sys, "path", [*before])
    monkeypatch.setenv("PYTHONPATH", "lib")

    def work() -> None:
        with DriversDirectory().left():
            enter(job, "a")
            sys.path.append("/added")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert Path.cwd() == driver
    assert ORIGINAL not in os.environ
    assert os.environ["PYTHONPATH"] == "lib"
    assert sys.path == [*before, "/added"]


def visit(directory: DriversDirectory, driver: Path) -> None:
    with directory.visited():
        assert Path.cwd() == driver
        raise ZeroDivisionError


def test_the_drivers_code_runs_in_its_directory_while_a_trial_works(driver: Path, job: Job) -> None:
    directory = DriversDirectory()
    with directory.left():
        enter(job, "a")
        Path("sub").mkdir()
        os.chdir("sub")  # the trial's own choice
        with pytest.raises(ZeroDivisionError):
            visit(directory, driver)
        assert Path.cwd() == job.folder / "a" / "sub"
    with directory.visited():
        assert Path.cwd() == driver


def test_a_driver_is_back_in_a_directory_that_was_renamed(driver: Path, job: Job) -> None:
    with DriversDirectory().left():
        enter(job, "a")
        driver.rename(driver.with_name("elsewhere"))
    assert Path.cwd() == driver.with_name("elsewhere")


def test_directories_that_were_deleted_end_nothing(driver: Path, job: Job) -> None:
    directory = DriversDirectory()
    with directory.left():
        enter(job, "a")
        (job.folder / "a").rmdir()
        with directory.visited():
            assert Path.cwd() == driver
        driver.rmdir()
    with pytest.raises(FileNotFoundError):
        os.getcwd()
    with directory.left():
        enter(job, "b")
        assert Path.cwd() == job.folder / "b"
        assert ORIGINAL not in os.environ
    os.chdir("/")


# --- machines that do not see the driver's disk -------------------------------------------


class Taken(FolderStore):
    """Notes the names of the files that it takes."""

    names: tuple[str, ...] = ()

    def add_files(self, files: Mapping[str, Path]) -> None:
        self.names = tuple(sorted(files))
        assert all(path.exists() for path in files.values())


def write_files(folder: Path) -> None:
    (folder / "sub").mkdir(parents=True)
    for name in ("model.pth", "log.txt", ".hidden", "sub/x"):
        (folder / name).write_text("1")
    (folder / "link").symlink_to(folder / "log.txt")


def test_files_are_handed_over_where_the_experiments_folder_is_elsewhere(tmp_path: Path) -> None:
    store = Taken(tmp_path / "store")
    job = Job(None, "train", tmp_path / "exp", store=store)
    hand_over_files(job, "a")  # the trial has no folder
    write_files(job.folder / "a")
    hand_over_files(job, "a")
    assert store.names == ("a/log.txt", "a/model.pth")


def test_nothing_is_handed_over_on_the_drivers_disk(tmp_path: Path) -> None:
    store = Taken(tmp_path / "store")
    (tmp_path / "exp").mkdir()
    job = Job(None, "train", tmp_path / "exp", store=store, mark=FolderMark.of(tmp_path / "exp"))
    write_files(job.folder / "a")
    hand_over_files(job, "a")
    assert store.names == ()


def test_files_that_cannot_be_handed_over_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Failing(FolderStore):
        def add_files(self, files: Mapping[str, Path]) -> None:
            raise StorageError("the driver hung up")

    job = Job(None, "train", tmp_path / "exp", store=Failing(tmp_path))
    write_files(job.folder / "a")
    hand_over_files(job, "a")
    said = capsys.readouterr().err
    assert "trial a: its files were not copied from this node: StorageError: the driver hung up" in said


# --- advice -------------------------------------------------------------------------------


def missing(name: str | Path | bytes) -> BaseException:
    with pytest.raises(FileNotFoundError) as raised:
        open(name).close()
    return raised.value


@pytest.mark.parametrize("as_given", [str, Path, os.fsencode, lambda name: os.path.join(os.getcwd(), name)])
def test_a_file_of_the_drivers_directory_is_told_with_both_ways_out(driver: Path, job: Job, as_given) -> None:
    (driver / "data").mkdir()
    (driver / "data" / "train.csv").write_text("1")
    enter(job, "a")
    advice = missing_file_advice(missing(as_given(os.path.join("data", "train.csv"))))
    assert advice == (
        f"'data/train.csv' is in {driver}, where the search was started; each trial works in its own folder. "
        f"Open os.path.join(os.environ[\"{ORIGINAL}\"], 'data/train.csv'), or set chdir_to_trial_dir=False"
    )


def test_the_cause_of_another_error_is_told_as_well(driver: Path, job: Job) -> None:
    (driver / "train.csv").write_text("1")
    enter(job, "a")
    error = RuntimeError("no data")
    error.__cause__ = missing("train.csv")
    assert "'train.csv' is in" in missing_file_advice(error)


@pytest.mark.parametrize("name", ["nowhere.csv", "/nowhere.csv", "../../driver/none.csv"])
def test_no_advice_where_it_would_not_help(driver: Path, job: Job, name: str) -> None:
    enter(job, "a")
    assert missing_file_advice(missing(name)) == ""
    assert missing_file_advice(ValueError("train.csv")) == ""
    assert missing_file_advice(FileNotFoundError("train.csv")) == ""
