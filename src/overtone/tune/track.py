"""An earlier name of `tune.report`: `tune.track.log(mean_accuracy=0.9)`."""

from __future__ import annotations

from typing import Any

from overtone.tune.session import get_trial_dir, report

__all__ = ["init", "log", "shutdown", "trial_dir"]


def log(**metrics: Any) -> None:
    """Report a result, as `tune.report` does."""
    report(metrics)


def trial_dir() -> str:
    """Return the path of the trial's folder."""
    return get_trial_dir()


def init(*_: Any, **__: Any) -> None:
    """Do nothing: a trial's session exists while the trial runs."""


def shutdown() -> None:
    """Do nothing: a trial's session is closed when the trial ends."""
