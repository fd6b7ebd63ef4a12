"""The creation of trials: from suggestions, from a scheduler's Add, and from requests."""

from __future__ import annotations

from dataclasses import replace

from overtone.core.endings import Endings
from overtone.core.protocols import TrialScheduler
from overtone.core.resources import Resources
from overtone.core.roster import Roster
from overtone.core.trial import Template
from overtone.core.types import Checkpoint, Config, Why


class Additions:
    """Creates trials, and puts them into the queue.

    Attributes:
        template: Makes trials from configs.
    """

    def __init__(
        self, roster: Roster, scheduler: TrialScheduler, endings: Endings, template: Template
    ) -> None:
        self.template = template
        self._roster = roster
        self._scheduler = scheduler
        self._endings = endings

    def begin_from(self, checkpoint: Checkpoint) -> None:
        """Let each new trial without a source begin with `checkpoint`."""
        self.template = replace(self.template, checkpoint=checkpoint)

    def create(
        self,
        config: Config,
        origin: tuple[str | None, Why] | None = None,
        suggestion: int | None = None,
        resources: Resources | None = None,
        priority: float | None = None,
    ) -> bool:
        """Create a pending trial; return whether it failed at once.

        Args:
            origin: The trial whose checkpoint it begins with, if any, and the reason of its creation; None
                for a suggestion.
            suggestion: The index of its suggestion.
            resources, priority: By the template if None.

        Raises:
            OvertoneError: The origin does not exist or has no checkpoint.
        """
        past, template = self._roster.past, self.template
        like = past.added() if past else None
        trial = self._roster.create(config, template, origin, like, resources, priority)
        trial.suggestion = suggestion
        named = origin[0] if origin is not None else None
        source = self._roster.checkpoint_of(named, "a new trial") if named else template.checkpoint
        if source is not None:
            self._roster.go_on_from(trial, source)
            trial.ruled_t = source.t
        self._scheduler.on_trial_add(trial)
        if self._endings.refuse(trial):
            return True
        self._roster.queue.add(trial)
        return False
