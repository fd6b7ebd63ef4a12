"""The class API by itself, outside of an experiment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overtone.errors import TrainableError
from overtone.worker.trainables.trainable import Trainable


class Modern(Trainable):
    def setup(self, config: dict[str, Any]) -> None:
        self.lr = config.get("lr", 0.1)
        self.calls: list[str] = []

    def step(self) -> Any:
        return {"lr": self.lr}

    def cleanup(self) -> None:
        self.calls.append("cleanup")

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self.lr = new_config["lr"]
        return True


class First(Trainable):
    def _setup(self, config: dict[str, Any]) -> None:
        self.calls = ["setup"]

    def _train(self) -> Any:
        return {"a": 1}

    def _save(self, checkpoint_dir: str) -> Any:
        return {"state": checkpoint_dir}

    def _restore(self, checkpoint: Any) -> None:
        self.calls.append(f"restore {checkpoint}")

    def _stop(self) -> None:
        self.calls.append("stop")


def test_it_can_be_stepped_by_hand() -> None:
    trainable = Modern({"lr": 0.5})
    assert trainable.train() == {"training_iteration": 1, "lr": 0.5}
    assert (trainable.iteration, trainable.training_iteration) == (1, 1)
    trainable.stop()
    assert trainable.calls == ["cleanup"]
    assert (trainable.trial_id, trainable.trial_name, trainable.trial_resources) == (
        "default",
        "Modern",
        None,
    )


def test_a_config_is_not_needed() -> None:
    assert Modern().get_config() == {}


def test_the_first_names_serve_as_well() -> None:
    trainable = First({})
    assert trainable.train()["a"] == 1
    assert trainable.save_checkpoint("d") == {"state": "d"}
    trainable.go_on_from("x", 5)
    trainable.stop()
    assert trainable.calls == ["setup", "restore x", "stop"]
    assert trainable.iteration == 5


def test_reset_changes_the_config_in_place() -> None:
    trainable = Modern({"lr": 0.5, "old": 1})
    config = trainable.config
    assert trainable.reset({"lr": 0.7})
    assert (config, trainable.lr) == ({"lr": 0.7}, 0.7)
    assert not First({}).reset({"lr": 0.7})


def test_a_number_is_a_result_and_a_text_is_not() -> None:
    class Stepping(Modern):
        def step(self) -> Any:
            return self.config["value"]

    assert Stepping({"value": np.float32(2)}).train() == {"training_iteration": 1, "_metric": 2}
    with pytest.raises(TrainableError, match=r"Stepping.step\(\) must return a dict.*not the str 'x'"):
        Stepping({"value": "x"}).train()


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        (lambda t: t.step(), "step"),
        (lambda t: t.save_checkpoint("d"), "save_checkpoint"),
        (lambda t: t.load_checkpoint("d"), "load_checkpoint"),
    ],
)
def test_what_is_missing_is_named(call: Any, needed: str) -> None:
    with pytest.raises(NotImplementedError, match=needed):
        call(Trainable({}))


def test_no_resources_are_requested_by_default() -> None:
    assert Trainable.default_resource_request({}) is None
