"""Stoppers: end trials and whole experiments by their results."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
