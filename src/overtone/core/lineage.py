"""The sequence of configs that a trial and its ancestors trained with."""

from __future__ import annotations

from dataclasses import dataclass

from overtone.core.messages import Added, Moved, Record, Ruled
from overtone.core.types import Config


@dataclass(frozen=True, slots=True)
class LineageStep:
    """A change of a trial's config.

    Attributes:
        target: The experiment_tag of the trial.
        source: The experiment_tag of the trial whose checkpoint it restored, perhaps its own.
        target_t: The training_iteration at which it was decided.
        t: The training_iteration of the restored checkpoint.
        before: The config of `source`.
        after: The new config.
        source_id: The id of `source`.
    """

    target: str
    source: str
    target_t: float
    t: float
    before: Config
    after: Config
    source_id: str = ""


class Lineage:
    """Collects each trial's config changes from an experiment's records."""

    def __init__(self) -> None:
        self._tags: dict[str, str] = {}
        self._configs: dict[str, Config] = {}
        self._firsts: dict[str, Config] = {}
        self._steps: dict[str, tuple[LineageStep, ...]] = {}
        self._due: dict[str, tuple[Ruled, str, Config, tuple[LineageStep, ...]]] = {}

    def apply(self, record: Record) -> list[tuple[str, LineageStep]]:
        """Apply a record; return the config changes that took effect with it, by trial id."""
        found: list[tuple[str, LineageStep]] = []
        for choice in record.choices:
            if isinstance(choice, Added):
                self._add(choice)
            elif isinstance(choice, Ruled) and choice.config is not None:
                if choice.what == "continue":
                    config, own = self._configs[choice.trial_id], self._steps[choice.trial_id]
                    found.append(
                        (choice.trial_id, self._take(choice, choice.trial_id, config, own, choice.t))
                    )
                else:
                    source = choice.source or choice.trial_id
                    self._due[choice.trial_id] = (choice, source, self._configs[source], self._steps[source])
            elif isinstance(choice, Moved) and choice.trial_id in self._due:
                if choice.status == "STARTING":
                    t = choice.checkpoint.t if choice.checkpoint is not None else 0
                    found.append((choice.trial_id, self._take(*self._due.pop(choice.trial_id), t)))
                elif choice.status != "HALTING" and choice.config is None:
                    del self._due[choice.trial_id]  # It failed or was stopped first.
        return found

    def steps(self, trial_id: str) -> tuple[LineageStep, ...]:
        """Return the config changes that led to the trial's current config, oldest first."""
        return self._steps[trial_id]

    def schedule(self, trial_id: str) -> tuple[Config, list[tuple[float, Config]]]:
        """Return the first config of the trial's first ancestor, and each later config with its t."""
        steps = self._steps[trial_id]
        first = steps[0].before if steps else self._firsts[trial_id]
        return first, [(step.t, step.after) for step in steps]

    def _add(self, added: Added) -> None:
        self._tags[added.trial_id] = added.tag
        self._configs[added.trial_id] = self._firsts[added.trial_id] = added.config
        self._steps[added.trial_id] = ()
        if added.source is not None:
            ruled = Ruled(added.trial_id, 0, "restart", added.why, added.config, added.source)
            known = (self._configs[added.source], self._steps[added.source])
            self._due[added.trial_id] = (ruled, added.source, *known)

    def _take(
        self, ruled: Ruled, source: str, before: Config, steps: tuple[LineageStep, ...], t: float
    ) -> LineageStep:
        after = ruled.config or {}
        step = LineageStep(self._tags[ruled.trial_id], self._tags[source], ruled.t, t, before, after, source)
        self._configs[ruled.trial_id] = after
        self._steps[ruled.trial_id] = (*steps, step)
        return step
