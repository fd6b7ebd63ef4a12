"""The training calls as `from overtone.air import session` has them: `session.report({...})`."""

from overtone.tune.session import (
    get_checkpoint,
    get_experiment_name,
    get_local_rank,
    get_trial_dir,
    get_trial_id,
    get_trial_name,
    get_trial_resources,
    get_world_rank,
    get_world_size,
    report,
)

__all__ = [
    "get_checkpoint",
    "get_experiment_name",
    "get_local_rank",
    "get_trial_dir",
    "get_trial_id",
    "get_trial_name",
    "get_trial_resources",
    "get_world_rank",
    "get_world_size",
    "report",
]
