"""Results of an experiment, read from its journal: running, finished, or a copy of its folder."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.analysis.experiment_analysis": "ExperimentAnalysis",
    "overtone.analysis.recorded_trial": "RecordedTrial",
    "overtone.analysis.result": "Result",
    "overtone.analysis.result_grid": "ResultGrid",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.analysis.experiment_analysis import ExperimentAnalysis as ExperimentAnalysis
    from overtone.analysis.recorded_trial import RecordedTrial as RecordedTrial
    from overtone.analysis.result import Result as Result
    from overtone.analysis.result_grid import ResultGrid as ResultGrid

__getattr__, __dir__ = attach(__name__, _NAMES)
