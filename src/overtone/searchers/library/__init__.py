"""Searchers that use another library's algorithm."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
