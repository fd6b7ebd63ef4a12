"""Forms of trainables and arguments that scripts for Ray Tune use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.errors import TrainableError
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
    assert trial.trainable_name == (name or "train")


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
