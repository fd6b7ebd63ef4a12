"""Kept for imports of `tune.search.smac`."""

from overtone.searchers.library.smac import SMACSearch

__all__ = ["SMACSearch"]
