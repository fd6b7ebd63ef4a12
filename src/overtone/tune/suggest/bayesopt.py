"""Kept for imports of `tune.suggest.bayesopt`."""

from overtone.searchers.bayesopt import BayesOptSearch

__all__ = ["BayesOptSearch"]
