"""Names that training code and `Tuner` scripts import as `train`: `train.report`, `train.RunConfig`, ..."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
