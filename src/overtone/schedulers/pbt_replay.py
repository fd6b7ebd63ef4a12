"""Trains one trial with the schedule of hyperparameters that a population found.

Population based training (see `pbt`) finds no config but a schedule: which config at which
t, along the line of ancestors of a member. This reads it from the experiment's folder, or
from a policy file such as Ray Tune writes, begins with the first config, and goes on from the
trial's own checkpoint with the next one where a member did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from overtone.core.decision import CONTINUE, Decision, Restart
from overtone.core.messages import NEVER
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import Config, Result, Why
from overtone.errors import OvertoneError
from overtone.regular_files import read_regular
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.explore import changes

Schedule = tuple[Config, list[tuple[float, Config]]]
"""The first config, and (t, config) for each later one."""


@checked
class PopulationBasedTrainingReplay(TrialScheduler):
    """Changes a trial's config at each t at which a member of a population changed its config.

    Args:
        policy_file: A policy file (pbt_policy_<trial>.txt), or an experiment's folder.
        trial_id: The member, in an experiment's folder; the best trial by default.
    """

    needs_metric = False
    pauses = True

    def __init__(self, policy_file: str, trial_id: str | None = None) -> None:
        self._path, self._trial_id = Path(policy_file).expanduser(), trial_id
        self._schedule: Schedule | None = None

    def complete(self, space: Mapping[str, Any], earlier: Callable[[str], Any]) -> dict[str, Any]:
        """Return the space with the values of the schedule's first config."""
        return {**space, **self._read(earlier)[0]}

    def on_start(self, view: View) -> None:
        self._changes = self._read(view.earlier)[1]
        self._n_done, self._trial = 0, ""

    def on_trial_add(self, trial: Trial) -> None:
        if self._trial not in ("", trial.id):
            raise OvertoneError(
                "a schedule is replayed by one trial, and this is a second one: leave num_samples at 1"
            )
        self._trial = trial.id

    def next_decision(self, trial: Trial) -> float:
        return self._changes[self._n_done][0] if self._n_done < len(self._changes) else NEVER

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if result.t < self.next_decision(trial):
            return CONTINUE
        t, config = [change for change in self._changes if change[0] <= result.t][-1]
        merged = {**trial.config, **config}
        return Restart(merged, None, Why("pbt_replay", result.t, t, note=changes(trial.config, merged)))

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if isinstance(decision, Restart):
            self._n_done = sum(change[0] <= (decision.why.t or 0) for change in self._changes)

    def describe(self) -> str:
        return f"PopulationBasedTraining replay: Step {self._n_done} of {len(self._changes)}"

    def _read(self, earlier: Callable[[str], Any]) -> Schedule:
        if self._schedule is None:
            is_text = self._path.is_file() and self._path.suffix != ".jsonl"
            self._schedule = (
                _read_policy(self._path) if is_text else earlier(str(self._path)).schedule_of(self._trial_id)
            )
        return self._schedule


def _read_policy(path: Path) -> Schedule:
    """Return the schedule in a policy file: its last line, after the lines of its ancestors."""
    found: list[tuple[float, Config]] = []
    first, ancestor = None, None
    for number, line in reversed(list(enumerate(read_regular(path).decode().splitlines(), 1))):
        try:
            target, source, _, t, before, after = json.loads(line)
        except ValueError as error:
            raise OvertoneError(
                f"{path}, line {number}: expected [tag, tag, t, t, config, config], not {line[:100]!r}"
            ) from error
        if ancestor not in (None, target):
            break  # The clone overwrote earlier steps.
        ancestor, first = source, before
        found.append((t, after))
    if first is None:
        raise OvertoneError(
            f"{path} is empty: this trial kept its first config, so there is nothing to replay"
        )
    return first, found[::-1]
