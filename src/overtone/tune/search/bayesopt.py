"""Kept for imports of `tune.search.bayesopt`."""

from overtone.searchers.bayesopt import BayesOptSearch

__all__ = ["BayesOptSearch"]
