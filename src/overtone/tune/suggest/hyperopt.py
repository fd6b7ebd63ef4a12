"""Kept for imports of `tune.suggest.hyperopt`."""

from overtone.searchers.library.hyperopt import HyperOptSearch as _HyperOptSearch
from overtone.tune.suggest.old_arguments import with_old_arguments

HyperOptSearch = with_old_arguments(_HyperOptSearch)

__all__ = ["HyperOptSearch"]
