"""The type that `get_context()` returns, under the names that annotations use."""

from overtone.tune.session import get_context
from overtone.worker.session.session import Session

TuneContext = TrainContext = Session

__all__ = ["TrainContext", "TuneContext", "get_context"]
