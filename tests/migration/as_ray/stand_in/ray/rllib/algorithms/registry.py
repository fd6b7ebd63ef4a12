# ruff: noqa
import os

from ray.tune import Trainable
from ray.tune.registry import environments


class Config:
    def update_from_dict(self, given):
        self.given = given
        return self


class Bundles:
    def __init__(self, bundles):
        self.bundles = bundles


class PPO(Trainable):
    @classmethod
    def get_default_config(cls):
        return Config()

    @classmethod
    def default_resource_request(cls, config):
        return Bundles([{"CPU": 1}] * config.given.get("num_env_runners", 1))

    def __init__(self, config):
        super().__init__(config)
        self.total = environments[config["env"]]({"start": 1}) if config["env"] in environments else 0

    def step(self):
        self.total += self.config["lr"]
        return {"env_runners": {"episode_return_mean": self.total}}

    def save_checkpoint(self, folder):
        with open(os.path.join(folder, "total"), "w") as file:
            file.write(str(self.total))

    def load_checkpoint(self, folder):
        with open(os.path.join(folder, "total")) as file:
            self.total = float(file.read())

    def cleanup(self):
        pass


ALGORITHMS = {"PPO": lambda: (PPO, None)}
