"""Kept for imports of `tune.execution.placement_groups`."""
