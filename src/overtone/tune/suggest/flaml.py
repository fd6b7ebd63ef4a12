"""Kept for imports of `tune.suggest.flaml`."""

from overtone.searchers.flaml import CFO, BlendSearch

__all__ = ["CFO", "BlendSearch"]
