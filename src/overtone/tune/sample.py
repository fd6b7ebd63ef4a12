"""Kept for imports of `tune.sample`, as the same names are in `tune.search.sample`."""

from overtone.tune.search.sample import *  # noqa: F403 - all of its names
from overtone.tune.search.sample import __all__ as __all__
