"""Kept for imports of `tune.utils`: waiting for a GPU, and checks of a trainable before a run."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
