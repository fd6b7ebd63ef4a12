"""Reports of training code, in a trial or in one of its ranks."""

from __future__ import annotations

from typing import Any

from overtone.tune.session import get_context

__all__ = ["report"]


def report(metrics: Any = None, /, checkpoint: Any = None, *, reduce: str = "", **more: Any) -> None:
    """Report a result, and wait if the scheduler may have to decide.

    In the ranks of a trainer every rank calls it, equally often: it waits for all ranks. The checkpoints of
    all ranks are one, with the files of each. Outside a trial it warns, and nothing is recorded.

    Args:
        metrics: Plain data by name, or one number; those of rank 0 count.
        checkpoint: The state after this result; in ranks, this rank's part of it.
        reduce: "mean" for means over ranks of the metrics that are numbers.
        more: Further metrics.
    """
    context = get_context()
    if reduce and context.get_world_size() > 1:
        more["reduce"] = reduce
    context.report(metrics, checkpoint=checkpoint, **more)
