"""Kept for imports of `air.result`."""

from overtone.analysis import Result

__all__ = ["Result"]
