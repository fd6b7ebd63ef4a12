"""The trials that `run_experiments` returns: a list with the attributes of an analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis


class Trials(list):  # type: ignore[type-arg]
    """The trials of all experiments, in the order of creation.

    Attributes:
        analyses: One for each experiment, in order. Other attributes (`best_config`,
            `results_df`, ...) are those of the analysis, if there is only one experiment.
    """

    def __init__(self, analyses: Sequence[ExperimentAnalysis]) -> None:
        super().__init__(trial for analysis in analyses for trial in analysis.trials)
        self.analyses = list(analyses)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "analyses" not in vars(self) or not self.analyses:
            raise AttributeError(name)
        if len(self.analyses) > 1:
            raise AttributeError(
                f"there are {len(self.analyses)} experiments: ask one of them, trials.analyses[0].{name}"
            )
        return getattr(self.analyses[0], name)
