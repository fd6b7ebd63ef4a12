"""Kept for imports of `tune.result_grid`."""

from overtone.analysis import ResultGrid

__all__ = ["ResultGrid"]
