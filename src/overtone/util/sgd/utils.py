"""Names that scripts import from `util.sgd.utils`."""

from overtone.train.torch.operators.meters import (
    BATCH_COUNT,
    BATCH_SIZE,
    NUM_SAMPLES,
    AverageMeter,
    AverageMeterCollection,
    TimerCollection,
    override,
)

__all__ = [
    "BATCH_COUNT",
    "BATCH_SIZE",
    "NUM_SAMPLES",
    "AverageMeter",
    "AverageMeterCollection",
    "TimerCollection",
    "override",
]
