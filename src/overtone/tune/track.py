"""`tune.track.log(mean_accuracy=0.9)`: the name that `tune.report` had for a while."""

from __future__ import annotations

from typing import Any

from overtone.tune.session import get_trial_dir, report

__all__ = ["init", "log", "shutdown", "trial_dir"]


def log(**metrics: Any) -> None:
    """Reports a result, as `tune.report` does."""
    report(metrics)


def trial_dir() -> str:
    """The trial's folder."""
    return get_trial_dir()


def init(*_: Any, **__: Any) -> None:
    """Accepted: a trial's session is there when the trial runs."""


def shutdown() -> None:
    """Accepted: it goes when the trial ends."""
