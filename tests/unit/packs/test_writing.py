"""A pack is there whole or not at all."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

import overtone
from overtone.analysis import ExperimentAnalysis
from overtone.analysis.no_result import NoBestError
from overtone.errors import DamagedError, GoalError, StorageError
from overtone.packs.writing import write_pack
from overtone.tune import Checkpoint


def test_the_best_checkpoint_of_the_best_trial_is_packed(ran, pack):
    trial = ran.trials[1]
    assert (pack / "checkpoint" / "weights").read_text() == "1 2"
    told = json.loads((pack / "provenance.json").read_text())
    assert {name: told[name] for name in ("experiment", "trial_id", "trial_index", "training_iteration")} == {
        "experiment": "exp", "trial_id": trial.trial_id, "trial_index": 1, "training_iteration": 2
    }  # fmt: skip
    assert (told["metric"], told["mode"], told["value"]) == ("loss", "min", 1.0)
    assert told["versions"]["python"].count(".") == 2
    assert told["versions"]["overtone"] == overtone.__version__
    lines = Path(ran.experiment_path, "journal.jsonl").read_text().splitlines()
    saved = json.loads(lines[told["record"] - 1].rpartition(",")[0] + "}")
    assert (saved["n"], saved["trial_id"], saved["t"]) == (told["record"], trial.trial_id, 2)


def test_other_trials_and_metrics_can_be_chosen(ran, analysis, tmp_path):
    analysis.pack(tmp_path / "a", trial=ran.trials[0].trial_id)
    analysis.pack(tmp_path / "b", metric="other", mode="max")
    assert (tmp_path / "a/checkpoint/weights").read_text() == "2 2"
    assert (tmp_path / "b/checkpoint/weights").read_text().split()[1] == "3"
    with pytest.raises(GoalError):
        analysis.pack(tmp_path / "c", metric="nope", mode="max")
    assert not (tmp_path / "c").exists()


def test_a_live_analysis_and_a_grid_pack_the_same_bytes(ran, analysis, tmp_path):
    from overtone.analysis.result_grid import ResultGrid

    digests = {
        ran.pack(tmp_path / "a"), analysis.pack(tmp_path / "b"), ResultGrid(analysis).pack(tmp_path / "c")
    }  # fmt: skip
    assert len(digests) == 1


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="coreutils are not installed")
def test_sha256sum_checks_a_pack(pack):
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=pack, capture_output=True, text=True)
    assert (done.returncode, done.stdout.count(": OK")) == (0, 5)


@pytest.mark.parametrize("what", ["file", "folder", "link", "dangling"])
def test_nothing_that_exists_is_touched(analysis, tmp_path, what):
    place = tmp_path / "pack"
    if what == "file":
        place.write_text("mine")
    elif what == "folder":
        place.mkdir()
        (place / "mine").touch()
    else:
        if what == "link":
            (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(StorageError, match=r"pack exists already"):
        analysis.pack(place)
    assert sorted(os.listdir(tmp_path)) == before
    assert what != "folder" or os.listdir(place) == ["mine"]


def test_an_empty_folder_is_filled(analysis, tmp_path):
    (tmp_path / "pack").mkdir()
    analysis.pack(tmp_path / "pack")
    assert overtone.load_pack(tmp_path / "pack").config["x"] == 1


def test_one_of_several_packs_at_once_is_there(analysis, tmp_path):
    barrier, outcomes = threading.Barrier(4), []
    checkpoint = analysis.best_checkpoint

    def write(number: int) -> None:
        barrier.wait()
        try:
            outcomes.append(write_pack(tmp_path / "pack", {"number": number}, checkpoint, {}))
        except StorageError as error:
            assert "exists already" in str(error)

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [overtone.load_pack(tmp_path / "pack").sha256] == outcomes
    assert os.listdir(tmp_path) == ["pack"]


def test_a_disk_without_room_leaves_nothing(tmp_path):
    (tmp_path / "large").mkdir()
    (tmp_path / "large/weights").write_bytes(bytes(1 << 20))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, limits[1]))
    try:
        with pytest.raises(StorageError, match="pack was not written: File too large"):
            write_pack(tmp_path / "pack", {}, Checkpoint(tmp_path / "large"), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == ["large"]


def test_a_checkpoint_that_vanishes_is_named(analysis, tmp_path, monkeypatch):
    def vanished(path, **_):
        raise FileNotFoundError(2, "No such file or directory", str(path))

    monkeypatch.setattr("overtone.packs.writing.open_regular", vanished)
    with pytest.raises(StorageError, match=r"pack was not written: No such file .*checkpoint_000002"):
        analysis.pack(tmp_path / "pack")
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_above_and_a_url_are_refused(analysis, tmp_path):
    with pytest.raises(StorageError, match="there is no folder"):
        analysis.pack(tmp_path / "a/pack")
    with pytest.raises(StorageError, match="copy that folder to the URL"):
        analysis.pack("s3://bucket/pack")


def test_a_damaged_checkpoint_is_not_packed(ran, tmp_path):
    copy = tmp_path / "exp"
    shutil.copytree(ran.experiment_path, copy)
    analysis = ExperimentAnalysis(copy)
    Path(analysis.best_checkpoint.path, "weights").write_text("other")
    with pytest.raises(DamagedError, match="weights"):
        analysis.pack(tmp_path / "pack")
    assert os.listdir(tmp_path) == ["exp"]


def test_links_in_a_checkpoint_are_refused(tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c/key").symlink_to("/etc/hostname")
    with pytest.raises(StorageError, match=r"c/key is a link"):
        write_pack(tmp_path / "pack", {}, Checkpoint(tmp_path / "c"), {})
    assert os.listdir(tmp_path) == ["c"]


def test_an_imported_experiment_names_its_tuner(analysis, tmp_path):
    analysis.runner_data()
    analysis._index.header["imported"] = {"tuner": "Ray Tune"}
    analysis.pack(tmp_path / "pack")
    told = overtone.load_pack(tmp_path / "pack").provenance
    assert (told["tuner"], told["versions"]) == ("Ray Tune", {})


def test_a_directory_that_only_the_journal_names_is_refused(tmp_path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "exp").mkdir()
    with pytest.raises(StorageError, match="outside of"):
        write_pack(tmp_path / "pack", {}, Checkpoint(tmp_path / "secrets"), {}, tmp_path / "exp")


def test_a_trial_without_a_checkpoint_is_named(tmp_path):
    def train(config):
        return {"loss": 1.0}

    found = overtone.tune.run(
        train, metric="loss", mode="min", name="exp", verbose=0, engine="inline", files=False,
        storage_path=tmp_path,
    )  # fmt: skip
    with pytest.raises(NoBestError, match=f"trial {found.trials[0].trial_id} has no checkpoint to pack"):
        found.pack(tmp_path / "pack")
