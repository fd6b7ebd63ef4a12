"""Kept for imports of `tune.schedulers.resource_changing_scheduler`."""

from overtone.schedulers.resize import (
    DistributeResources,
    DistributeResourcesToTopJob,
    ResourceChangingScheduler,
)

__all__ = ["DistributeResources", "DistributeResourcesToTopJob", "ResourceChangingScheduler"]
