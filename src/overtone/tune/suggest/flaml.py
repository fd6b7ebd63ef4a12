"""Kept for imports of `tune.suggest.flaml`."""

from overtone.searchers.library.flaml import CFO, BlendSearch

__all__ = ["CFO", "BlendSearch"]
