"""Kept for imports of `tune.suggest.smac`."""

from overtone.searchers.library.smac import SMACSearch

__all__ = ["SMACSearch"]
