"""Texts of errors that custom searchers in Ray Tune's form fill in and raise."""

UNDEFINED_METRIC_MODE = "{cls} has metric={metric} and mode={mode}: name both, in the searcher or in the call"
UNDEFINED_SEARCH_SPACE = "{cls} has no space: give its argument `{space}`, or a space to the call"
UNRESOLVED_SEARCH_SPACE = (
    "the argument `{par}` of {cls} has domains that it cannot search: give the space to the call"
)
