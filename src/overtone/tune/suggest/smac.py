"""Kept for imports of `tune.suggest.smac`."""

from overtone.searchers.smac import SMACSearch

__all__ = ["SMACSearch"]
