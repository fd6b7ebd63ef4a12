"""Kept for imports of `tune.suggest.bayesopt`."""

from overtone.searchers.library.bayesopt import BayesOptSearch as _BayesOptSearch
from overtone.tune.suggest.old_arguments import with_old_arguments

BayesOptSearch = with_old_arguments(_BayesOptSearch)

__all__ = ["BayesOptSearch"]
