"""Forms of trainables and arguments that scripts for Ray Tune use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.errors import TrainableError, TuneError
from overtone.tune.trainable import wrap_function


def run(tmp_path: Path, trainable: Any, **options: Any) -> list[Any]:
    options = {"engine": "inline", "storage_path": tmp_path, "name": "exp", "verbose": 0, **options}
    return list(tune.run(trainable, **options).trials)


# --- checkpoint_dir -----------------------------------------------------------------------


def keeps_default(
    config: dict[str, Any], checkpoint_dir: str | None = "DIR", step: int = 3
) -> dict[str, Any]:
    return {"begins": checkpoint_dir, "step": step}


def test_the_default_of_checkpoint_dir_counts_where_there_is_no_checkpoint(tmp_path: Path) -> None:
    (trial,) = run(tmp_path, keeps_default)
    assert (trial.last_result["begins"], trial.last_result["step"]) == ("DIR", 3)


def test_a_checkpoint_replaces_the_default(tmp_path: Path) -> None:
    def train(config: dict[str, Any], checkpoint_dir: str = "DIR", reporter: Any = None) -> None:
        if checkpoint_dir == "DIR":
            with tune.checkpoint_dir(1) as folder:
                Path(folder, "x").write_text("saved")
            reporter(x="none")
            raise RuntimeError("once more")
        reporter(x=Path(checkpoint_dir, "x").read_text())

    (trial,) = run(tmp_path, train, max_failures=1)
    assert trial.last_result["x"] == "saved"


# --- wrap_function ------------------------------------------------------------------------


def train(config: dict[str, Any]) -> None:
    tune.report(loss=config.get("x", 1))


@pytest.mark.parametrize("form", ["class", "registered", "bound"])
@pytest.mark.parametrize("name", [None, "mine"])
def test_a_wrapped_function_is_run_as_the_function(tmp_path: Path, form: str, name: str | None) -> None:
    wrapped: Any = wrap_function(train, name=name)
    assert issubclass(wrapped, tune.Trainable)
    if form == "registered":
        tune.register_trainable("wrapped", wrapped)
        wrapped = "wrapped"
    elif form == "bound":
        wrapped = tune.with_resources(wrapped, {"cpu": 1})
    (trial,) = run(tmp_path, wrapped, engine="local")
    assert trial.last_result["loss"] == 1
    assert trial.trainable_name == ("wrapped" if form == "registered" else name or "train")


def test_a_wrapped_function_has_no_steps() -> None:
    with pytest.raises(TrainableError, match="a wrapped function has no single steps"):
        wrap_function(train)().train()


# --- export_formats -----------------------------------------------------------------------


class Exports(tune.Trainable):
    def step(self) -> dict[str, Any]:
        return {"n": self.iteration + 1, "done": self.config["ends"] and self.iteration == 1}

    def _export_model(self, export_formats: list[str], export_dir: str) -> dict[str, str]:
        path = Path(export_dir, "exported")
        path.write_text(f"{export_formats} {self.iteration}")
        return {"model": str(path)}


@pytest.mark.parametrize("engine", ["inline", "local"])
@pytest.mark.parametrize("ends", [True, False])
def test_models_are_exported_when_trials_end(tmp_path: Path, engine: str, ends: bool) -> None:
    (trial,) = run(
        tmp_path, Exports, config={"ends": ends}, stop={"training_iteration": 2}, export_formats=["model"],
        engine=engine,
    )  # fmt: skip
    assert Path(trial.local_path, "exported").read_text() == "['model'] 2"


def test_nothing_is_exported_without_being_asked_for_or_by_an_unknown_format(tmp_path: Path) -> None:
    (trial,) = run(tmp_path, Exports, config={"ends": True})
    assert not Path(trial.local_path, "exported").exists()
    for wrong in (["tf"], "model"):
        with pytest.raises(ValueError, match='export_formats=.* must be a list of "checkpoint", "model"'):
            run(tmp_path, Exports, export_formats=wrong)


def test_an_export_that_raises_is_told_and_ends_no_trial(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    class Fails(Exports):
        def _export_model(self, export_formats: list[str], export_dir: str) -> dict[str, str]:
            raise RuntimeError("no such exporter")

    (trial,) = run(tmp_path, Fails, config={"ends": True}, export_formats=["model"])
    assert trial.status == "TERMINATED"
    assert "no such exporter" in capfd.readouterr().err


# --- restore ------------------------------------------------------------------------------


class Counts(tune.Trainable):
    def setup(self, config: dict[str, Any]) -> None:
        self.n = 0

    def step(self) -> dict[str, Any]:
        self.n += 1
        return {"n": self.n}

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        Path(checkpoint_dir, "n").write_text(str(self.n))

    def load_checkpoint(self, checkpoint: Any) -> None:
        self.n = int(Path(checkpoint, "n").read_text())


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """The checkpoint of another experiment, at iteration 3."""
    (trial,) = run(tmp_path / "before", Counts, stop={"training_iteration": 3}, checkpoint_at_end=True)
    return str(trial.checkpoint.path)


@pytest.mark.parametrize("engine", ["inline", "local"])
def test_trials_begin_from_a_checkpoint_of_another_experiment(
    tmp_path: Path, checkpoint: str, engine: str
) -> None:
    trials = run(
        tmp_path, Counts, restore=checkpoint, stop={"training_iteration": 5}, num_samples=2, engine=engine,
        keep_checkpoints_num=1, checkpoint_freq=1,
    )  # fmt: skip
    for trial in trials:
        frame = trial.metrics_dataframe if hasattr(trial, "metrics_dataframe") else None
        assert (trial.last_result["n"], trial.last_result["training_iteration"]) == (5, 5)
        assert trial.last_result["iterations_since_restore"] == 2
        assert frame is None or list(frame["n"]) == [4, 5]
    assert Path(checkpoint, "n").read_text() == "3"
    assert (tmp_path / "exp" / "restored" / "checkpoint_000003" / "n").read_text() == "3"


def test_a_resume_goes_on_from_the_copy_also_if_the_checkpoint_is_gone(
    tmp_path: Path, checkpoint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    import shutil

    run(tmp_path, Counts, restore=checkpoint, stop={"training_iteration": 5})
    shutil.rmtree(checkpoint)
    capfd.readouterr()
    trials = run(tmp_path, Counts, stop={"training_iteration": 5}, num_samples=2, resume=True)
    assert [trial.last_result["iterations_since_restore"] for trial in trials] == [2, 2]
    assert "decide otherwise" not in capfd.readouterr().err


def test_a_function_gets_a_folder_or_a_file_of_anybodys(tmp_path: Path) -> None:
    def train(config: dict[str, Any], checkpoint_dir: str | None = None) -> dict[str, Any]:
        assert checkpoint_dir is not None
        place = Path(checkpoint_dir)
        return {"text": (place / "model" if place.is_dir() else place).read_text()}

    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "model").write_text("weights")
    for i, given in enumerate((tmp_path / "saved", tmp_path / "saved" / "model")):
        (trial,) = run(tmp_path, train, restore=given, name=str(i))
        assert (trial.last_result["text"], trial.last_result["training_iteration"]) == ("weights", 1)


def test_a_checkpoint_that_is_not_there_leaves_the_earlier_experiment(tmp_path: Path) -> None:
    run(tmp_path, Counts, stop={"training_iteration": 1})
    before = (tmp_path / "exp" / "journal.jsonl").read_bytes()
    with pytest.raises(OSError, match=r"restore='.*nowhere': there is no file or folder"):
        run(tmp_path, Counts, restore=tmp_path / "nowhere")
    assert (tmp_path / "exp" / "journal.jsonl").read_bytes() == before
    with pytest.raises(TuneError, match="simulated trials begin at their beginning"):
        run(tmp_path, Counts, restore=tmp_path, engine="simulated")
