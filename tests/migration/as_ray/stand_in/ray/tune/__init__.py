# ruff: noqa
from .registry import register_env
from ray.air_names import NAME


class Trainable:
    """Not Overtone's."""

    def __init__(self, config):
        self.config = config
