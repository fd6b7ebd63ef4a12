"""Stands in for Comet: `told` has what it is told."""

from __future__ import annotations

import sys
from types import ModuleType

from told import tell


class Experiment:
    def __init__(self, **kwargs):
        tell(type(self).__name__, kwargs)

    def __getattr__(self, name):
        return lambda *args, **kwargs: tell(name, *args, kwargs)


class OfflineExperiment(Experiment):
    pass


class Artifact:
    def __init__(self, name, artifact_type):
        self.name, self.files = name, []

    def add(self, path, logical_path):
        self.files.append(logical_path)


sys.modules["comet_ml.config"] = config = ModuleType("comet_ml.config")
config.set_global_experiment = lambda experiment: None
