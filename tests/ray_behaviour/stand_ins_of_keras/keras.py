"""Stands in for Keras: the base of its callbacks, and a model that calls them as `fit` does."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType


class Callback:
    def set_model(self, model):
        self.model = model

    @property
    def model(self):
        return self._model

    @model.setter
    def model(self, model):
        self._model = model

    def _ignored(self, *args, **kwargs):
        pass

    on_train_begin = on_train_end = on_test_begin = on_test_end = on_predict_begin = on_predict_end = _ignored
    on_epoch_begin = on_epoch_end = _ignored
    on_train_batch_begin = on_train_batch_end = on_test_batch_begin = on_test_batch_end = _ignored
    on_predict_batch_begin = on_predict_batch_end = _ignored


class Model:
    def fit(self, epochs, callbacks):
        logs = {}
        for callback in callbacks:
            callback.set_model(self)
            callback.on_train_begin(None)
        for epoch in range(epochs):
            logs = {"loss": 1 / (epoch + 1), "accuracy": epoch / 10}
            for callback in callbacks:
                callback.on_epoch_end(epoch, logs)
        for callback in callbacks:
            callback.on_train_end(logs)

    def save(self, path):
        Path(path).write_text("model")


sys.modules["keras.callbacks"] = callbacks = ModuleType("keras.callbacks")
callbacks.Callback = Callback
