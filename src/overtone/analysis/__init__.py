"""Results of an experiment, read from its journal: running, finished, or a copy of its folder."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
