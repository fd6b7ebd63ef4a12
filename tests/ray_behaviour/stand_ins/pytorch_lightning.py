"""Stands in for Lightning: the base of its callbacks."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType


class Callback:
    def on_validation_end(self, trainer, pl_module):
        pass

    def on_train_end(self, trainer, pl_module):
        pass


class LightningModule:
    pass


class Trainer:
    sanity_checking = False

    def __init__(self, callback_metrics):
        self.callback_metrics = callback_metrics

    def save_checkpoint(self, path, weights_only=None):
        Path(path).write_text("module")


sys.modules["pytorch_lightning.callbacks"] = callbacks = ModuleType("pytorch_lightning.callbacks")
callbacks.Callback = Callback
