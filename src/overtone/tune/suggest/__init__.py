"""The old name of `tune.search`."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
