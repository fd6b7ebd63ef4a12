"""What `Tuner.restore` takes from the experiment, from the trainable's module, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core.resources import Resources
from overtone.errors import OvertoneError, SpaceError, TrainableError


def train(config: dict[str, Any]) -> dict[str, float]:
    return {"loss": config.get("double", 0) + config.get("y", 0)}


def other(config: dict[str, Any]) -> dict[str, float]:
    return {"loss": 1.0}


def double(spec: Any) -> float:
    return float(2 * spec.config.x)


def by_config(config: dict[str, Any]) -> dict[str, Any]:
    return {"custom_resources": {"licence": 0}, "cpu": config["x"]}


class Net:
    @staticmethod
    def width(config: dict[str, Any]) -> int:
        return int(config["x"])


SPACE_WITH_LAMBDA = {"x": tune.grid_search([1, 2]), "y": tune.sample_from(lambda spec: spec.config.x)}


def search(folder: Path, trainable: Any = train, **space: Any) -> Path:
    """An experiment with two trials, or more by `space`."""
    run = tune.RunConfig(storage_path=folder, name="exp", verbose=0, engine="inline")
    tune.Tuner(trainable, param_space={"x": tune.grid_search([1, 2]), **space}, run_config=run).fit()
    return folder / "exp"


def restored(path: Path, trainable: Any = train, **given: Any) -> Any:
    return tune.Tuner.restore(path, trainable, engine="inline", **given)


def test_another_trainable_is_refused(tmp_path: Path) -> None:
    path = search(tmp_path)
    with pytest.raises(TrainableError, match="has trials of the trainable 'train', and 'other' was given"):
        restored(path, other)
    with pytest.raises(ValueError, match=r"If it was renamed, tune\.run\(other, name=\"exp\""):
        restored(path, tune.with_parameters(other))
    restored(path, tune.with_resources(train, {"cpu": 1})).fit()


@pytest.mark.parametrize(
    ("given", "difference"),
    [
        ({"x": 1, "b": 2}, "'optimizer/lr' missing; 'b' new"),
        ({"x": 1}, "'optimizer/lr' missing"),
        ({"x": 1, "optimizer": {"lr": 1, "momentum": 2}}, "'optimizer/momentum' new"),
        ({}, "'x', 'optimizer/lr' missing"),
    ],
)
def test_a_space_with_other_keys_is_refused(tmp_path: Path, given: dict[str, Any], difference: str) -> None:
    path = search(tmp_path, optimizer={"lr": tune.uniform(0, 1)})
    with pytest.raises(SpaceError) as refused:
        restored(path, param_space=given)
    assert f"other keys than the space of {path}: {difference}. " in str(refused.value)


def test_a_space_with_other_values_is_taken(tmp_path: Path) -> None:
    path = search(tmp_path, optimizer={"lr": tune.uniform(0, 1)})
    space = {"x": tune.choice([5]), "optimizer": {"lr": tune.grid_search([1, 2])}}
    assert restored(path, param_space=space).to_experiment().space == space


def test_functions_of_the_trainables_module_are_found(tmp_path: Path) -> None:
    path = search(tmp_path, double=tune.sample_from(double), width=tune.sample_from(Net.width), net=Net)
    tuner = restored(path)
    space = tuner.to_experiment().space
    assert (space["double"].func, space["width"].func, space["net"]) == (double, Net.width, Net)
    results = tuner.fit()
    assert sorted(one.config["double"] for one in results) == [2, 4]


def test_lambdas_are_found_in_a_space_of_the_module_alone(tmp_path: Path) -> None:
    path = search(tmp_path / "known", **SPACE_WITH_LAMBDA)
    assert restored(path).to_experiment().space is SPACE_WITH_LAMBDA
    path = search(tmp_path / "unknown", z=tune.sample_from(lambda spec: 1))
    with pytest.raises(OvertoneError, match=r"z \(.*<lambda>\).*param_space="):
        restored(path)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"cpu": 2}, Resources.of({"cpu": 2})),
        (tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}], strategy="SPREAD"),
         Resources.of([{"cpu": 1}, {"cpu": 1}], "SPREAD")),
        (tune.ScalingConfig(num_workers=1), Resources.of([{"cpu": 1}, {"cpu": 1}])),
    ],
)  # fmt: skip
def test_the_bare_trainable_keeps_the_resources_that_were_bound(
    tmp_path: Path, given: Any, expected: Resources
) -> None:
    path = search(tmp_path, tune.with_resources(train, given))
    assert restored(path).to_experiment().resources == expected


def test_a_function_of_resources_is_found_in_the_module_or_asked_for(tmp_path: Path) -> None:
    path = search(tmp_path / "known", tune.with_resources(train, by_config))
    assert restored(path).to_experiment().resources({"x": 2}) == Resources.of({"licence": 0, "cpu": 2})
    path = search(tmp_path / "unknown", tune.with_resources(train, lambda config: {"cpu": 1}))
    with pytest.raises(OvertoneError, match=r"tune\.with_resources\(trainable, \.\.\.\)"):
        restored(path)


def test_the_working_directory_is_as_recorded_unless_the_environment_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_CHDIR_TO_TRIAL_DIR", "0")
    path = search(tmp_path)
    monkeypatch.delenv("RAY_CHDIR_TO_TRIAL_DIR")
    assert restored(path).to_experiment().chdir_to_trial_dir is False
    assert restored(path, chdir_to_trial_dir=True).to_experiment().chdir_to_trial_dir is True
    monkeypatch.setenv("RAY_CHDIR_TO_TRIAL_DIR", "1")
    assert restored(path).to_experiment().chdir_to_trial_dir is True
