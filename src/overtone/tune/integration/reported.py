"""Functions shared by the callbacks: selecting metrics, and reporting with a checkpoint."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overtone.errors import OvertoneError
from overtone.tune.session import get_context, report
from overtone.worker.checkpoints.checkpoint import Checkpoint

Metrics = str | Sequence[str] | Mapping[str, str] | None
"""A name, several names, or {name to report: name in the library}; None for all."""


def chosen(metrics: Metrics, logs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `logs` to report, by reported name.

    Raises:
        OvertoneError: One of `metrics` is not in `logs`; the message lists the names in `logs`.
    """
    if not metrics:
        return {name: plain(value) for name, value in logs.items()}
    if isinstance(metrics, str):
        metrics = [metrics]
    pairs = metrics.items() if isinstance(metrics, Mapping) else zip(metrics, metrics, strict=True)
    found = {}
    for shown, name in pairs:
        if name not in logs:
            known = ", ".join(map(repr, logs)) or "nothing"
            raise OvertoneError(f"there is no {name!r} to report: the training loop has {known}")
        found[shown] = plain(logs[name])
    return found


def plain(value: Any) -> Any:
    """Return a scalar tensor as a number, and any other value unchanged."""
    return value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value


def report_saved(metrics: Mapping[str, Any], save: Callable[[str], Any]) -> None:
    """Report `metrics` with a checkpoint of the files that `save(folder)` writes.

    In a trainer's ranks each reports, and rank 0 alone saves: all have the same model.
    """
    if get_context().get_world_rank():
        report(metrics)
        return
    with tempfile.TemporaryDirectory() as folder:
        save(folder)
        report(metrics, checkpoint=Checkpoint.from_directory(folder))
