"""Kept for imports of `tune.search.smac`."""

from overtone.searchers.smac import SMACSearch

__all__ = ["SMACSearch"]
