"""Kept for imports of `tune.create`."""

from overtone.named import create_scheduler, create_searcher

__all__ = ["create_scheduler", "create_searcher"]
