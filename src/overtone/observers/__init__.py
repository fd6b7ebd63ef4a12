"""Observers: they follow an experiment and write files and output for people and other programs."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
