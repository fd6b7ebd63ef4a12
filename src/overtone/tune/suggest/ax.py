"""Kept for imports of `tune.suggest.ax`."""

from overtone.searchers.library.ax import AxSearch as _AxSearch
from overtone.tune.suggest.old_arguments import with_old_arguments

AxSearch = with_old_arguments(_AxSearch)

__all__ = ["AxSearch"]
