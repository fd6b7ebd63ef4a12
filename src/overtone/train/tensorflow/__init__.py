"""TensorFlow's MultiWorkerMirroredStrategy over several ranks: `TensorflowTrainer`."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
