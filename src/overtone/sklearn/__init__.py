"""scikit-learn's searches with Overtone's searchers, schedulers and engines."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
