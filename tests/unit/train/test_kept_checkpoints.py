"""Checkpoints of a training within a trial's own code."""

from overtone.train import CheckpointConfig
from overtone.train.kept_checkpoints import KeptCheckpoints


def kept_after(folder, losses, config):
    kept = KeptCheckpoints(folder / "home", config)
    for number, loss in enumerate(losses):
        files = folder / f"files{number}"
        files.mkdir()
        (files / "number").write_text(str(number))
        kept.keep(files, {"loss": loss})
    names = sorted(one.name for one in (folder / "home").iterdir())
    assert [one.path.rsplit("/")[-1] for one, _ in kept.all] == names
    return [int((folder / "home" / name / "number").read_text()) for name in names]


def test_all_are_kept_by_default(tmp_path):
    assert kept_after(tmp_path, [3, 1, 2], None) == [0, 1, 2]


def test_the_newest_are_kept(tmp_path):
    assert kept_after(tmp_path, [3, 1, 2, 4], CheckpointConfig(num_to_keep=2)) == [2, 3]


def test_the_best_are_kept_beside_the_newest(tmp_path):
    config = CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="loss", checkpoint_score_order="min")
    assert kept_after(tmp_path, [3, 1, float("nan"), 2, 4], config) == [1, 3, 4]


def test_one_is_the_newest(tmp_path):
    assert kept_after(tmp_path, [3, 1, 2], CheckpointConfig(num_to_keep=1)) == [2]


def test_a_file_is_a_checkpoint_too(tmp_path):
    (tmp_path / "model.txt").write_text("x")
    kept = KeptCheckpoints(tmp_path / "home", None)
    kept.keep(tmp_path / "model.txt", {})
    assert kept.newest is not None
    assert (tmp_path / "home" / "checkpoint_000000" / "model.txt").read_text() == "x"
