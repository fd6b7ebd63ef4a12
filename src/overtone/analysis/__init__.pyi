from overtone.analysis.experiment_analysis import ExperimentAnalysis as ExperimentAnalysis
from overtone.analysis.recorded_trial import RecordedTrial as RecordedTrial
from overtone.analysis.result import Result as Result
from overtone.analysis.result_grid import ResultGrid as ResultGrid
