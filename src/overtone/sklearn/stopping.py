"""The scheduler of a search, from what `early_stopping` may be."""

from __future__ import annotations

import copy
from typing import Any

from overtone.named import create_scheduler
from overtone.sklearn.evaluation import Evaluation
from overtone.sklearn.racing import FoldRacing

_NAMES = {
    "AsyncHyperBandScheduler": "asha", "ASHAScheduler": "asha", "HyperBandScheduler": "hyperband",
    "MedianStoppingRule": "median", "HyperBandForBOHB": "hb_bohb", "PopulationBasedTraining": "pbt",
}  # fmt: skip
"""Names of schedulers in tune-sklearn."""

_WITH_END = ("asha", "async_hyperband", "asynchyperband", "hyperband", "hb_bohb", "pasha")
"""Schedulers whose rungs end at `max_t`."""


def scheduler_of(early_stopping: Any, evaluation: Evaluation) -> Any:
    """Return the scheduler; None for none.

    True is racing if each fold is a report, else ASHA. A scheduler by its name ends at the last report.
    """
    if not early_stopping or evaluation.n_reports == 1:
        return None
    if early_stopping is True and not evaluation.max_iters:
        return FoldRacing(evaluation.n_reports)
    if early_stopping is True:
        early_stopping = "asha"
    if not isinstance(early_stopping, str):
        return copy.deepcopy(early_stopping)
    name = _NAMES.get(early_stopping, early_stopping).lower()
    arguments: dict[str, Any] = {}
    if name in _WITH_END:
        arguments = {"max_t": evaluation.n_reports}
    elif name.startswith("median"):
        arguments = {"time_attr": "training_iteration", "grace_period": 1}
    return create_scheduler(name, **arguments)
