"""Kept for imports of `tune.search.flaml`."""

from overtone.searchers.flaml import CFO, BlendSearch

__all__ = ["CFO", "BlendSearch"]
