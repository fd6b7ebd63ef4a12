"""A problem on which the best learning rate changes during training, for population based training.

The accuracy rises fastest at a learning rate that first grows with the accuracy, up to the middle, and
falls again beyond. A constant learning rate is therefore far from the best one most of the time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from overtone.tune.session import get_checkpoint, report
from overtone.worker.checkpoints.checkpoint import Checkpoint

LEAST_LR, BEST_LR = 0.001, 0.01
MIDDLE = 100.0
"""The accuracy at which the largest learning rate is the best one; at twice of it, training is done."""

_TOLERANCE = 3.0
_NOISE = 2.0


def optimal_lr(accuracy: float) -> float:
    """Return the learning rate at which the accuracy rises fastest."""
    return max(LEAST_LR, BEST_LR * (1 - abs(accuracy - MIDDLE) / MIDDLE))


def trained(accuracy: float, lr: float) -> float:
    """Return the accuracy after one more step; it falls if `lr` is more than three times too large."""
    best = optimal_lr(accuracy)
    factor = max(lr, best) / min(lr, best)
    if factor < _TOLERANCE:
        accuracy += random.random() / factor
    elif lr > best:
        accuracy -= (factor - _TOLERANCE) * random.random()
    return max(0.0, accuracy + random.gauss(0.0, _NOISE))


def pbt_function(config: Mapping[str, Any]) -> None:
    """Train until the accuracy is 200, or until stopped.

    It reports mean_accuracy, cur_lr, optimal_lr, q_err (the factor between both) and done.

    Args:
        config: "lr", and "checkpoint_interval", the steps between two checkpoints (1 by default).
    """
    lr, interval = config["lr"], config.get("checkpoint_interval", 1)
    before = get_checkpoint()
    state = before.to_dict() if before else {"accuracy": 0.0, "step": 0}
    accuracy, step = state["accuracy"], state["step"]
    while True:
        best = optimal_lr(accuracy)
        accuracy, step = trained(accuracy, lr), step + 1
        saved = Checkpoint.from_dict({"accuracy": accuracy, "step": step}) if step % interval == 0 else None
        metrics = {
            "mean_accuracy": accuracy,
            "cur_lr": lr,
            "optimal_lr": best,
            "q_err": max(lr, best) / min(lr, best),
            "done": accuracy > 2 * MIDDLE,
        }
        report(metrics, checkpoint=saved)
