"""Stands in for TensorFlow, of which Ray's callbacks for Keras use `tensorflow.keras`."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import keras

data = SimpleNamespace(Dataset=object)
sys.modules["tensorflow.keras"] = keras
sys.modules["tensorflow.keras.callbacks"] = keras.callbacks
