"""Facts about the trial of a gang, which its head hands to its ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overtone.worker.session.current import current, is_inside
from overtone.worker.session.trial_context import TrialStorage

if TYPE_CHECKING:
    from overtone.core.placement_group import PlacementGroupFactory


@dataclass(frozen=True, slots=True)
class TrialFacts:
    """The trial of a gang; all are None, and the config is empty, outside of a trial."""

    trial_id: str | None = None
    name: str | None = None
    folder: str | None = None
    experiment_name: str | None = None
    seed: int | None = None
    resources: PlacementGroupFactory | None = None
    storage: TrialStorage | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def facts_of_current_trial() -> TrialFacts:
    """Return the facts about the trial that runs in this process, if any."""
    if not is_inside():
        return TrialFacts()
    trial = current()
    return TrialFacts(
        trial.get_trial_id(),
        trial.get_trial_name(),
        trial.get_trial_dir(),
        trial.get_experiment_name(),
        trial.get_trial_seed(),
        trial.get_trial_resources(),
        trial.get_storage(),
        dict(trial.params),
    )
