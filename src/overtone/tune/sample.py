"""Kept for imports of `tune.sample`: the classes of domains."""

from overtone.space import Categorical, Domain, Float, Function, Integer, Normal

__all__ = ["Categorical", "Domain", "Float", "Function", "Integer", "Normal"]
