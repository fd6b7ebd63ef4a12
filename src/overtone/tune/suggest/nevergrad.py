"""Kept for imports of `tune.suggest.nevergrad`."""

from overtone.searchers.library.nevergrad import NevergradSearch as _NevergradSearch
from overtone.tune.suggest.old_arguments import with_old_arguments

NevergradSearch = with_old_arguments(_NevergradSearch)

__all__ = ["NevergradSearch"]
