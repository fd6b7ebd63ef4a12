"""A trainable without a model, for trying schedulers: its reward rises along a curve."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overtone.tune.registry import register_trainable
from overtone.worker.trainables.trainable import Trainable

MOCK_TRAINABLE_NAME = "mock_trainable"
MOCK_ERROR_KEY = "mock_error"

_FILE = "checkpoint"


class MyTrainableClass(Trainable):
    """Reports `episode_reward_mean`: height * tanh(steps / width).

    Config: "width" and "height" (1 by default), "sleep" (seconds per step), "mock_error" (whether it
    raises after its first step, unless it was restored), "persistent_error" (whether it raises then, too).
    """

    def setup(self, config: Mapping[str, Any]) -> None:
        self.timestep = 0
        self.restored = False

    def step(self) -> dict[str, Any]:
        config = self.config
        is_broken = config.get("persistent_error") or not self.restored
        if config.get(MOCK_ERROR_KEY) and self.timestep and is_broken:
            raise RuntimeError(f"{MOCK_ERROR_KEY} is set, and {self.timestep} steps are done")
        time.sleep(config.get("sleep", 0))
        self.timestep += 1
        return {
            "episode_reward_mean": config.get("height", 1) * math.tanh(self.timestep / config.get("width", 1))
        }

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        Path(checkpoint_dir, _FILE).write_text(json.dumps({"timestep": self.timestep}))

    def load_checkpoint(self, checkpoint_dir: str) -> None:
        self.timestep = json.loads(Path(checkpoint_dir, _FILE).read_text())["timestep"]
        self.restored = True


def register_mock_trainable() -> None:
    """Register the trainable as "mock_trainable"."""
    register_trainable(MOCK_TRAINABLE_NAME, MyTrainableClass)
