"""What training code and `Tuner` scripts import as `train`: `train.report`, `train.RunConfig`, ..."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.analysis": "Result",
    "overtone.tune.context": "TrainContext",
    "overtone.tune.demand": "ScalingConfig",
    "overtone.tune.tune": "CheckpointConfig FailureConfig RunConfig",
    "overtone.tune.session": "get_checkpoint get_context report",
    "overtone.tune.syncer": "SyncConfig",
    "overtone.worker.checkpoints.checkpoint": "Checkpoint",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.analysis import Result as Result
    from overtone.tune.context import TrainContext as TrainContext
    from overtone.tune.demand import ScalingConfig as ScalingConfig
    from overtone.tune.session import get_checkpoint as get_checkpoint
    from overtone.tune.session import get_context as get_context
    from overtone.tune.session import report as report
    from overtone.tune.syncer import SyncConfig as SyncConfig
    from overtone.tune.tune import CheckpointConfig as CheckpointConfig
    from overtone.tune.tune import FailureConfig as FailureConfig
    from overtone.tune.tune import RunConfig as RunConfig
    from overtone.worker.checkpoints.checkpoint import Checkpoint as Checkpoint
else:
    __getattr__, __dir__ = attach(__name__, _NAMES)
