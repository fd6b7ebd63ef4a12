"""Searchers: what proposes configurations."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
