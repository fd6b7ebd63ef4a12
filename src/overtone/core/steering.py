"""Requests of people and programs: whether they can be carried out, and their effects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from overtone.core import messages as m
from overtone.core.additions import Additions
from overtone.core.bounds import Bounds
from overtone.core.decision import Pause, Stop
from overtone.core.endings import Endings
from overtone.core.ledger import infeasible
from overtone.core.requests import PRIORITY_RULE, Answered, Requested, Steered, is_finite, reason
from overtone.core.roster import Live, Roster
from overtone.core.suggestion_quota import Supply
from overtone.core.trial import HALTING, RUNNING, Status, Trial
from overtone.core.types import Config
from overtone.errors import OvertoneError

PAUSE = "pause_trial"
"""The rule of a pause that a request asked for."""


class Steering:
    """Carries out requests.

    Attributes:
        answered: The requests that were handled, by id.
        deferred: Requests from a time without a driver, for the next one.
    """

    def __init__(
        self, roster: Roster, endings: Endings, supply: Supply, bounds: Bounds, additions: Additions
    ) -> None:
        self.answered = Answered()
        self.deferred: list[Requested] = []
        self._roster, self._queue = roster, roster.queue
        self._endings = endings
        self._supply = supply
        self._bounds = bounds
        self._additions = additions
        self._paused: set[str] = set()  # Held trials that ran: their schedulers do not expect a pause.
        self._has_warned = False

    # --- effects -----------------------------------------------------------------------

    def takes(self, event: Requested, is_done: bool) -> bool:
        """Return whether a request is carried out: it is not a repetition, and has no objection."""
        if self._roster.past is None:  # A recorded request was taken.
            if event.request in self.answered:
                return False
            if not event.deferred and self.objection(event, is_done) is not None:
                return False
        self.answered.note(event.request, 0)
        if event.deferred:
            self.deferred.append(event)
        return True

    def carry_out(self, event: Requested) -> bool:
        """Apply a request without objection, other than a save.

        Returns:
            Whether a trial ended, so that the scheduler reviews the others.
        """
        if event.what == "stop":
            self._endings.close(reason(event), keeps=False)
        elif event.what == "add":
            return self._add(event)
        elif event.what == "set_limits":
            self._bounds.change(event.limits or {})
            return self._limited(event)
        elif event.what != "note":
            return self._change(self._roster.trials[event.trial_id], event)
        return False

    def resume(self, event: m.Resumed) -> Iterator[Requested]:
        """Begin under a new driver, and yield the requests from before it that can be carried out."""
        if self._bounds.now != event.limits:
            self._roster.choices.append(Steered(limits=self._bounds.now))
        self._has_warned = False
        deferred, self.deferred = self.deferred, []
        changed: list[Requested] = []
        for request in deferred:
            if request.what in ("note", "save_trial"):
                continue  # Nothing runs yet that could save.
            problem = self.objection(request, is_done=False)
            if problem is not None:
                text = f"a request from before the resume has no effect ({request.what}): {problem}"
                self._roster.choices.append(m.Noted(text, is_warning=True))
            elif request.what == "set_limits":
                changed.append(request)
            else:
                yield replace(request, time=event.time)
        if changed:  # All at once, so that a later value of a limit also replaces one that would end the run.
            limits = {name: value for one in changed for name, value in (one.limits or {}).items()}
            yield replace(changed[-1], time=event.time, limits=limits)

    def note_waiting(self) -> None:
        """Note once that all trials that are left are held, so that nothing runs until a request."""
        if self._has_warned:
            return
        self._has_warned = True
        n = len(self._queue.held)
        what = "1 trial is held, and it is" if n == 1 else f"{n} trials are held, and they are"
        text = f"{what} all that is left: the experiment waits until a trial is resumed, or it is stopped"
        self._roster.choices.append(m.Noted(text, is_warning=True))

    def is_asked(self, live: Live) -> bool:
        """Return whether a request wanted the pause for which a trial halts."""
        return isinstance(live.intent, Pause) and live.intent.why.rule == PAUSE

    def fail_pause(self, trial: Trial) -> None:
        """Give up the pause of a trial that cannot save and whose process may not wait."""
        self._paused.discard(trial.id)
        self._queue.released.pop(trial.id, None)
        if trial.id in self._queue.held:
            self._queue.release(trial, at_once=False)
            self._roster.choices.append(Steered(trial.id, is_held=False))
            text = (
                f"trial {trial.id} goes on instead of pausing: it cannot save, and a process that waits "
                "would keep its GPU. Let it save checkpoints, or stop it"
            )
            self._roster.choices.append(m.Noted(text, is_warning=True))

    def _change(self, trial: Trial, event: Requested) -> bool:
        """Apply a request about a trial."""
        if event.what == "stop_trial":
            self._endings.stop(trial, reason(event))
            return trial.status.is_final
        if event.what == "pause_trial":
            self._hold(trial, event)
        elif event.what == "resume_trial":
            self._has_warned = False
            self._queue.release(trial, at_once=trial.id in self._paused)
            self._paused.discard(trial.id)
            self._roster.choices.append(Steered(trial.id, is_held=False))
        elif event.what == "set_priority":
            assert event.priority is not None
            self._queue.reorder(trial, float(event.priority))
            self._roster.choices.append(Steered(trial.id, priority=trial.priority))
        return False

    def _hold(self, trial: Trial, event: Requested) -> None:
        if trial.status.is_placed or trial.id in self._queue.released:
            live = self._roster.live.get(trial.id)
            if live is None or live.intent is None or self.is_asked(live):
                self._paused.add(trial.id)
        self._roster.ledger.unreserve(trial.id)
        self._queue.hold(trial)
        self._roster.choices.append(Steered(trial.id, is_held=True))
        if trial.status.is_placed and trial.status is not HALTING:
            self._roster.halt(trial, Pause(reason(event)), save=True, park=True)

    def _add(self, event: Requested) -> bool:
        # A recorded trial has its config from the record.
        config = self._config(event) if self._roster.past is None else {}
        source = event.source if event.source and self._roster.trials[event.source].checkpoint else None
        return self._additions.create(config, (source, reason(event)), None, event.resources, event.priority)

    def _config(self, event: Requested) -> Config:
        """Return the config of the trial that a request adds.

        Raises:
            OvertoneError: The space does not have one of its values, or its constraint does not allow it.
        """
        trials = self._roster.trials
        source = trials[event.trial_id].config if event.trial_id else None
        if source is not None and not event.config:
            return dict(source)
        return self._additions.template.complete(dict(event.config or {}), len(trials), source)

    def _limited(self, event: Requested) -> bool:
        """Let changed limits take effect; return whether a trial ended."""
        now, roster = self._bounds.now, self._roster
        self._supply.resize(now.total, now.lookahead)
        roster.choices.append(Steered(limits=now))
        n_ended = self._end_surplus(event) if "num_samples" in (event.limits or {}) else 0
        if now.time_budget_s is not None:
            roster.commands.append(m.Wake(now.time_budget_s))
            self._endings.check_budget(event.time)
        return n_ended > 0

    def _end_surplus(self, event: Requested) -> int:
        """End the newest trials that never started, as many as there are suggestions beyond the total."""
        surplus = self._supply.surplus
        if not surplus:
            return 0
        trials = reversed(self._roster.trials.values())
        suggested = (one for one in trials if one.suggestion is not None and one.id not in self._queue.held)
        chosen = list(islice((one for one in suggested if one.is_untouched), surplus))
        for trial in chosen:
            assert trial.suggestion is not None
            self._endings.stop(trial, reason(event))
            self._supply.take_back(trial.suggestion)
        if chosen:
            n = len(chosen)
            what = (
                "1 trial that has not started ends" if n == 1 else f"{n:,} trials that have not started end"
            )
            self._roster.choices.append(m.Noted(f"num_samples is lower now: {what}"))
        return len(chosen)

    # --- objections --------------------------------------------------------------------

    def objection(self, event: Requested, is_done: bool) -> str | None:
        """Return why a request cannot be carried out, as a sentence; None if it can."""
        closing = self._endings.closing
        if event.trial_id and event.trial_id not in self._roster.trials:
            return self._unknown(event.trial_id)
        if event.what == "note":
            return None if event.note.strip() else "a note needs a text"
        if closing is not None:
            return f"the experiment is ending ({closing.note or closing.rule}): resume it first"
        if event.what == "stop":
            return "the experiment has ended" if is_done else None
        if event.what == "set_limits":
            return self._bounds.objection(event.limits)
        if event.what == "add":
            return self._objection_to_addition(event)
        if not event.trial_id:
            return f"{event.what} needs a trial_id"
        return self._objection_to_change(self._roster.trials[event.trial_id], event)

    def _objection_to_change(self, trial: Trial, event: Requested) -> str | None:
        """Return why a trial cannot be changed as requested."""
        what, status, live = event.what, trial.status, self._roster.live.get(trial.id)
        if status.is_final:
            return f"trial {trial.id} has ended ({status.shown}): clone it to run its config again"
        if live is not None and isinstance(live.intent, Stop):
            return f"trial {trial.id} is ending already"
        is_held = trial.id in self._queue.held
        if what == "save_trial" and status is not RUNNING:
            return f"trial {trial.id} is {_shown(trial, is_held)}: only a running trial can save"
        if what == "pause_trial" and is_held:
            return f"trial {trial.id} is held already, until it is resumed"
        if what == "resume_trial" and not is_held:
            if status in (Status.PAUSED, Status.PARKED):
                rule = trial.why.rule if trial.why is not None else "its scheduler"
                return (
                    f"trial {trial.id} was not paused by a request but by {rule}, which chooses when it "
                    "goes on: only a trial that a request paused can be resumed"
                )
            return f"trial {trial.id} is not held: it is {_shown(trial, is_held)}"
        if what == "set_priority" and not is_finite(event.priority):
            return f"priority={event.priority!r:.100}: must be {PRIORITY_RULE}"
        return None

    def _objection_to_addition(self, event: Requested) -> str | None:
        """Return why a trial cannot be added."""
        if event.config is not None and not isinstance(event.config, Mapping):
            return f"config={event.config!r:.100}: must be a mapping of hyperparameters"
        if event.config is None and not event.trial_id:
            return "a trial to add needs a config, or the trial_id of a trial to clone"
        if event.priority is not None and not is_finite(event.priority):
            return f"priority={event.priority!r:.100}: must be {PRIORITY_RULE}"
        if event.source is not None:
            source = self._roster.trials.get(event.source)
            if source is None:
                return self._unknown(event.source)
            if source.checkpoint is None and source.id != event.trial_id:  # A clone begins anew then.
                return f"trial {source.id} has no checkpoint to begin from: add the trial without a source"
        template, index, ledger = self._additions.template, len(self._roster.trials), self._roster.ledger
        try:
            config = self._config(event)
            demand = event.resources or template.resources(config)
            template.tag(index, config), template.priority(config)
        except OvertoneError as error:
            return str(error)
        except Exception as error:  # A function of the user refuses the config.
            return f"no trial can have this config: {type(error).__name__}: {error!s:.200}"
        if not self._bounds.now.is_elastic and not ledger.is_feasible(demand):
            return infeasible(demand, ledger.total(), ledger.largest_gpu_memory)
        return None

    def _unknown(self, trial_id: str) -> str:
        trials = self._roster.trials
        if not trials:
            return f"trial {trial_id!r:.100} does not exist: there is no trial yet"
        first, last = next(iter(trials)), next(reversed(trials))
        return f"trial {trial_id!r:.100} does not exist: the trials are {first} to {last}"


def _shown(trial: Trial, is_held: bool) -> str:
    return "held" if is_held else trial.status.word.lower()
