"""A checkpoint with a model of PyTorch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from overtone.errors import ArgumentError
from overtone.worker.checkpoints.checkpoint import Checkpoint


class TorchCheckpoint(Checkpoint):
    """A checkpoint whose file `model.pt` is a model, or the state of one.

    The file is in a temporary folder until the checkpoint is reported.
    """

    MODEL_FILENAME = "model.pt"

    @classmethod
    def from_state_dict(cls, state_dict: Mapping[str, Any]) -> TorchCheckpoint:
        """Return a checkpoint with the state of a model; names without DDP's "module." in front."""
        return cls._saved({name.removeprefix("module."): value for name, value in state_dict.items()})

    @classmethod
    def from_model(cls, model: nn.Module) -> TorchCheckpoint:
        """Return a checkpoint with a whole model, as a pickle; `from_state_dict` is safer to load."""
        return cls._saved(getattr(model, "module", model))

    @classmethod
    def _saved(cls, value: Any) -> TorchCheckpoint:
        folder = tempfile.mkdtemp(prefix="overtone-model-")
        torch.save(value, os.path.join(folder, cls.MODEL_FILENAME))
        return cls(folder)

    def get_model(self, model: nn.Module | None = None, weights_only: bool = True) -> nn.Module:
        """Return the saved model.

        Args:
            model: A model that gets the saved state; needed if the checkpoint has a state alone.
            weights_only: False to load a whole model, whose pickle can execute any code.

        Raises:
            ArgumentError: The checkpoint has a state, and `model` is None.
        """
        with self.as_directory() as folder:
            path = os.path.join(folder, self.MODEL_FILENAME)
            saved = torch.load(path, map_location="cpu", weights_only=weights_only)
        if not isinstance(saved, Mapping):
            whole: nn.Module = saved
            return whole
        if model is None:
            raise ArgumentError("get_model() of a saved state needs the model: get_model(model=Net())")
        model.load_state_dict(saved)
        return model
