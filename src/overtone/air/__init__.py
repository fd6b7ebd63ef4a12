"""Names that scripts of the 2.0 to 2.6 API import as `air`; they live in `overtone.tune`."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.analysis": "Result",
    "overtone.tune.demand": "ScalingConfig",
    "overtone.tune.tune": "CheckpointConfig FailureConfig RunConfig",
    "overtone.worker.checkpoints.checkpoint": "Checkpoint",
}
_MODULES = ("checkpoint", "config", "integrations", "result", "session")

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.air import checkpoint as checkpoint
    from overtone.air import config as config
    from overtone.air import integrations as integrations
    from overtone.air import result as result
    from overtone.air import session as session
    from overtone.analysis import Result as Result
    from overtone.tune.demand import ScalingConfig as ScalingConfig
    from overtone.tune.tune import CheckpointConfig as CheckpointConfig
    from overtone.tune.tune import FailureConfig as FailureConfig
    from overtone.tune.tune import RunConfig as RunConfig
    from overtone.worker.checkpoints.checkpoint import Checkpoint as Checkpoint
else:
    __getattr__, __dir__ = attach(__name__, _NAMES, _MODULES)
