"""All trials of an experiment: the only place that changes their state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from overtone.core import messages as m
from overtone.core.decision import Pause, Restart, Stop
from overtone.core.ineffective_settings import HOW_TO_SAVE
from overtone.core.ledger import Ledger
from overtone.core.queue import Queue
from overtone.core.randomness import key
from overtone.core.recorded_choices import RecordedChoices
from overtone.core.resources import Placement, Resources
from overtone.core.retention import Retention
from overtone.core.sizes import LONGEST_NAME
from overtone.core.trial import (
    HALTING,
    PARKED,
    PAUSED,
    PENDING,
    RUNNING,
    STARTING,
    TRANSITIONS,
    Status,
    Template,
    Trial,
)
from overtone.core.types import Checkpoint, Config, Result, Why
from overtone.errors import OvertoneError


@dataclass(slots=True)
class Live:
    """State of a trial that exists only while it has a process.

    Attributes:
        trial: The trial.
        started: Time at which its process was requested.
        is_up: Whether its process has reported that it runs.
        t: The t of its newest report; a report that is not newer is a duplicate.
        saved_t: The t of its newest checkpoint; an older checkpoint is a duplicate.
        until_t: The t up to which it may run ahead.
        intent: The decision for which it halts; None otherwise.
        restart_from: The pinned checkpoint that a Restart restores.
        leaves: Whether it halts after its next save, since its node goes away.
    """

    trial: Trial
    started: float = 0.0
    is_up: bool = False
    t: int = 0
    saved_t: int = 0
    until_t: float = 0.0
    intent: Pause | Stop | Restart | None = None
    restart_from: Checkpoint | None = None
    leaves: bool = False


class Roster:
    """Holds the trials; records each change in `choices` and each command in `commands`.

    Attributes:
        trials: Every trial by id, in the order of creation.
        queue: The waiting trials, pending or paused.
        ledger: The resources that running trials hold.
        live: State of the trials with a process, by id.
        parked: The ids of paused trials whose process waits in report().
        choices, commands: Consequences of the current event so far.
        past: The recorded choices of the current event while it is replayed; else None.
    """

    def __init__(self, prefix: str, retention: Retention, tells_pauses: bool = False) -> None:
        self.trials: dict[str, Trial] = {}
        self.ledger = Ledger()
        self.queue = Queue(self.trials, self.ledger)
        self.live: dict[str, Live] = {}
        self.parked: set[str] = set()
        self.choices: list[m.Choice] = []
        self.commands: list[m.Command] = []
        self.past: RecordedChoices | None = None
        self._prefix = prefix
        self._tells_pauses = tells_pauses
        self._retention = retention
        self._resting: dict[str, list[Trial]] = {}  # Ended trials with this checkpoint, by uri.

    @property
    def n_active(self) -> int:
        """The number of trials with a process, without parked ones."""
        return len(self.live) - len(self.parked)

    def create(
        self,
        config: Config,
        template: Template,
        origin: tuple[str | None, Why] | None,
        like: m.Added | None = None,
        demand: Resources | None = None,
        rank: float | None = None,
    ) -> Trial:
        """Create a trial, or create it again as recorded; the trial is not yet queued.

        Args:
            demand, rank: Its resources and its priority; by the template if None.
        """
        index = len(self.trials)
        if like is not None:
            config = like.config
            trial = Trial(like.trial_id, index, config, like.resources, tag=like.tag, priority=like.priority)
            trial.name = like.name
        else:
            resources = template.resources(config) if demand is None else demand
            priority = template.priority(config) if rank is None else rank
            tag = template.tag(index, config)
            trial = Trial(f"{self._prefix}_{index:05d}", index, config, resources, tag=tag, priority=priority)
            trial.name = str(template.name(trial))[:LONGEST_NAME] if template.name else ""
        self.trials[trial.id] = trial
        source, why = origin or (None, None)
        self.choices.append(
            m.Added(
                trial.id, index, config, trial.resources, trial.tag, trial.priority, source, why, trial.name
            )
        )
        return trial

    def move(
        self,
        trial: Trial,
        status: Status,
        why: Why | None = None,
        error: str = "",
        placement: Placement | None = None,
        resources: Resources | None = None,
        config: Config | None = None,
    ) -> None:
        """Change a trial's status, and record its new demand and config; no other code does.

        Raises:
            AssertionError: `TRANSITIONS` has no such change, and neither demand nor config changes.
        """
        is_same = status is trial.status and not (config is None and resources is None)
        if not is_same and status not in TRANSITIONS[trial.status]:
            raise AssertionError(f"trial {trial.id} cannot go from {trial.status.value} to {status.value}")
        before, trial.status = trial.status, status
        if why is not None:
            trial.why = why
        if self._tells_pauses and not status.is_final:
            self._tell_pause(trial, before)
        start = None
        if trial.checkpoint is not None:
            self._rest_or_wake(trial)
            start = trial.checkpoint if status is STARTING else None
        self.choices.append(
            m.Moved(trial.id, status.word, trial.attempt, why, placement, start, error, resources, config)
        )

    def resize(self, trial: Trial, wanted: Resources, why: Why) -> None:
        """Give a waiting trial another demand; in a replay the recorded one, if any."""
        demand = wanted if self.past is None else self.past.resized(trial.id)
        if demand is None:
            return
        self.withdraw(trial)
        trial.resources = demand
        self.move(trial, trial.status, why, resources=demand)
        self.queue.add(trial)

    def _tell_pause(self, trial: Trial, before: Status) -> None:
        """Tell the searcher if the trial, whose status was `before`, now begins or ends a pause."""
        was_paused, is_paused = before in (PAUSED, PARKED), trial.status in (PAUSED, PARKED)
        if is_paused != was_paused:
            self.commands.append(m.Observe(trial, None, "begins" if is_paused else "ends"))

    def room(self, max_concurrent: int | None) -> int:
        """Return how many more trials could start if the searcher had configs."""
        newest = next(reversed(self.trials.values())) if self.trials else None
        if newest is not None and newest.status is PENDING and newest.id not in self.queue.held:
            return 0  # The newest trial waits, so another might, too.
        if newest is None or not self.ledger.is_feasible(newest.resources):
            free = int(bool(self.ledger.total()))  # The next trial's demand is unknown: allow at most one.
        else:
            free = self.ledger.room(newest.resources)
        return min(free, max_concurrent - len(self.ledger)) if max_concurrent else free

    def current(self, event: Any) -> Live | None:
        """Return the live state of the message's sender; None if the message is late."""
        live = self.live.get(event.trial_id)
        return None if live is None or live.trial.attempt != event.attempt else live

    # --- processes ---------------------------------------------------------------------

    def start(self, trial: Trial, placement: Placement, time: float, until_t: float) -> None:
        """Start the process of a waiting trial, or resume its parked process."""
        self.queue.remove(trial)
        if self.queue.released:
            self.queue.released.pop(trial.id, None)
        live = self.live.get(trial.id)
        if live is None:
            live = self.live[trial.id] = Live(trial)
        live.started, live.until_t = time, until_t
        if trial.status is PARKED:
            self.parked.discard(trial.id)
            self.move(trial, RUNNING, placement=placement)
            self.commands.append(m.Proceed(trial.id, trial.attempt, until_t))
            return
        self.move(trial, STARTING, placement=placement)
        self.commands.append(
            m.Start(
                trial.id,
                trial.attempt,
                trial.index,
                trial.config,
                trial.resources,
                placement,
                trial.checkpoint,
                until_t,
                trial.tag,
                trial.name,
                self._retention.before(trial.checkpoint) if trial.checkpoint else (),
            )
        )

    def halt(
        self,
        trial: Trial,
        intent: Pause | Stop | Restart | None,
        save: bool = False,
        park: bool = False,
        grace_s: float | None = None,
    ) -> None:
        """Halt a trial; if it already halts, only its intent changes."""
        self.live[trial.id].intent = intent
        if trial.status is HALTING:
            return
        if trial.status is PARKED:
            self.queue.remove(trial)
            self.parked.discard(trial.id)
        self.move(trial, HALTING)
        final = not isinstance(intent, Restart)  # A Restart discards its current state.
        self.commands.append(m.Halt(trial.id, trial.attempt, save, park, final, grace_s))

    def leave(self, live: Live) -> bool | None:
        """Make a trial leave its node: it halts after a save, or at once if it has not begun.

        Returns:
            False if it leaves or halts already.
        """
        trial = live.trial
        if live.leaves or trial.status is HALTING:
            return False
        live.leaves = True
        if trial.status is STARTING:
            self.halt(trial, None)
        elif trial.status is RUNNING:
            self.commands.append(m.Proceed(trial.id, trial.attempt, live.until_t, save=True))
        return None

    def park(self, trial: Trial, why: Why) -> None:
        """Park a trial: its process waits, without resources, until the trial is chosen again."""
        self.live[trial.id].intent = None
        self.parked.add(trial.id)
        self.ledger.release(trial.id)
        self.move(trial, PARKED, why)
        self.queue.add(trial)

    def end_process(self, trial: Trial) -> Live:
        """Remove the process of a trial; return its last state."""
        if trial.status is PARKED:
            self.queue.remove(trial)
            self.parked.discard(trial.id)
        self.ledger.release(trial.id)
        trial.attempt += 1
        return self.live.pop(trial.id)

    def withdraw(self, trial: Trial) -> None:
        """Remove a waiting trial from the queue."""
        self.queue.remove(trial)
        self.ledger.unreserve(trial.id)

    # --- checkpoints -------------------------------------------------------------------

    def keep(self, trial: Trial, checkpoint: Checkpoint, worth: float, merit: float = 0.0) -> None:
        """Record a trial's checkpoint, and discard the checkpoints that retention no longer keeps."""
        self.go_on_from(trial, checkpoint)
        self._discard(self._retention.add(checkpoint, worth, merit))

    @property
    def kept(self) -> dict[str, int]:
        """Bytes of each kept checkpoint, by uri."""
        return self._retention.sizes()

    def has(self, checkpoint: Checkpoint) -> bool:
        """Return whether a checkpoint is kept."""
        return self._retention.has(checkpoint)

    def went_on_from(self, trial: Trial, restored: Checkpoint | None) -> None:
        """Record the restored checkpoint: an earlier one if the newest was damaged."""
        if restored is None:
            self.forget(trial)
        elif restored != trial.checkpoint and self.has(restored):
            self.go_on_from(trial, restored)

    def go_on_from(self, trial: Trial, checkpoint: Checkpoint) -> None:
        """Set the checkpoint that the trial would restore; it stays pinned until replaced."""
        self.pin(checkpoint)
        if trial.checkpoint is not None:
            self.unpin(trial.checkpoint)
        trial.checkpoint = checkpoint

    def forget(self, trial: Trial) -> None:
        """Clear the trial's checkpoint: it starts from the beginning."""
        if trial.checkpoint is not None:
            self._wake(trial)
            self.unpin(trial.checkpoint)
            trial.checkpoint = None

    def pin(self, checkpoint: Checkpoint) -> None:
        """Pin a checkpoint that is needed."""
        self._retention.pin(checkpoint)

    def unpin(self, checkpoint: Checkpoint) -> None:
        """Unpin a checkpoint; discard it if only the pin kept it."""
        self._discard(self._retention.unpin(checkpoint))

    def _rest_or_wake(self, trial: Trial) -> None:
        """Allow the deletion of an ended trial's checkpoint, only if room is short."""
        if not trial.status.is_final:
            self._wake(trial)
        elif trial.checkpoint is not None:
            self._resting.setdefault(trial.checkpoint.uri, []).append(trial)
            self._discard(self._retention.rest(trial.checkpoint))

    def _wake(self, trial: Trial) -> None:
        """Undo `_rest_or_wake`: an ended trial needs its checkpoint again."""
        resting = self._resting.get(trial.checkpoint.uri, []) if trial.checkpoint else []
        if trial.checkpoint is not None and trial in resting:
            resting.remove(trial)
            self._retention.wake(trial.checkpoint)

    def _discard(self, uris: Sequence[str]) -> None:
        for uri in uris:
            for trial in self._resting.pop(uri, ()):
                trial.checkpoint = None
            self.commands.append(m.Discard(uri))

    def checkpoint_of(self, source: str, asking: str) -> Checkpoint:
        """Return the newest checkpoint of the trial `source`.

        Raises:
            OvertoneError: There is no such trial, or the trial has no checkpoint.
        """
        trial = self.trials.get(source)
        if trial is None:
            raise OvertoneError(f"trial {source!r} does not exist; there are {len(self.trials)} trials")
        if trial.checkpoint is None:
            raise OvertoneError(
                f"{asking} should go on from a checkpoint of {source}, which has none. {HOW_TO_SAVE}"
            )
        return trial.checkpoint


def id_prefix(seed: int) -> str:
    """Return the beginning of the ids of an experiment's trials; the number of the trial follows."""
    return f"{key(seed, 'trial ids'):016x}"[:5]


def slim(result: Result, names: Sequence[str]) -> Result:
    """Return the result with these metrics alone; the journal has the others."""
    metrics = result.metrics
    kept = {name: metrics[name] for name in names if name in metrics}
    return Result(result.t, result.score, result.scores, result.violations, kept)
