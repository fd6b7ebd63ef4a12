"""Kept for imports of `tune.suggest.variant_generator`."""

from overtone.searchers.variant_generator import (
    RecursiveDependencyError,
    assign_value,
    format_vars,
    generate_variants,
    parse_spec_vars,
    resolve_nested_dict,
)
from overtone.space.dsl import grid_search

__all__ = [
    "RecursiveDependencyError",
    "assign_value",
    "format_vars",
    "generate_variants",
    "grid_search",
    "parse_spec_vars",
    "resolve_nested_dict",
]
