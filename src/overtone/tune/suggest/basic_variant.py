"""Kept for imports of `tune.suggest.basic_variant`."""

from overtone.searchers import BasicVariantGenerator

__all__ = ["BasicVariantGenerator"]
