"""Kept for imports of `tune.suggest.variant_generator`."""

from overtone.space.dsl import grid_search

__all__ = ["grid_search"]
