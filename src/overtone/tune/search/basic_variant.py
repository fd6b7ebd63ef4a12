"""Kept for imports of `tune.search.basic_variant`."""

from overtone.searchers import BasicVariantGenerator

__all__ = ["BasicVariantGenerator"]
