"""Searchers by the names that users import; each is imported when it is first used."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
