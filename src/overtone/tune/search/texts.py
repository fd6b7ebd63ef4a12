"""Texts of errors about a searcher's space and goal, under the names that custom searchers import."""

__all__ = ["UNDEFINED_METRIC_MODE", "UNDEFINED_SEARCH_SPACE", "UNRESOLVED_SEARCH_SPACE"]

UNDEFINED_METRIC_MODE = (
    "{cls} needs a metric and a mode, not metric={metric!r} and mode={mode!r}: TuneConfig takes both"
)
UNDEFINED_SEARCH_SPACE = "{cls} needs a search space: give it {space!s}, or a space to Tuner(param_space=...)"
UNRESOLVED_SEARCH_SPACE = "{par} of {cls} has domains or grids: give the space to Tuner(param_space=...)"
