"""Kept for imports of `tune.suggest.repeater`."""

from overtone.searchers.repeater import TRIAL_INDEX, Repeater

__all__ = ["TRIAL_INDEX", "Repeater"]
