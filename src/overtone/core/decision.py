"""Decisions that a scheduler may make on a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from overtone.core.message_class import message
from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Config, Why
from overtone.errors import ArgumentError, UsageError


@message
class Continue:
    """Continue the trial; if a config is given, with new values of `params` and without a restart."""

    config: Config | None = None


@message
class Save:
    """Save a checkpoint, then continue."""


@message
class Pause:
    """Save, release the resources, and wait until the scheduler chooses the trial again."""

    why: Why


@message
class Stop:
    """End the trial for good."""

    why: Why


@message
class Restart:
    """Restart the trial with another config, from the checkpoint of `source` (or its own).

    From `review`, also for a waiting trial. `resources` is the trial's new demand; the demand of
    the config by default.
    """

    config: Config
    source: str | None
    why: Why
    resources: Resources | None = None


@message
class Add:
    """Add a trial, from the checkpoint of `source` if one is given; from `review` only."""

    config: Config
    source: str | None
    why: Why


Decision = Continue | Save | Pause | Stop | Restart | Add

Ruling = tuple[str, Decision]
"""A trial's id, and the decision on it; "" with an Add."""

CONTINUE = Continue()
SAVE = Save()


def as_decision(value: object, rule: str, hook: str = "on_result") -> Decision:
    """Return the decision for a scheduler's return value: a decision or a string flag.

    A reason may be a string.

    Raises:
        TypeError: `value` is neither, or one of its fields has a wrong type.
    """
    if type(value) is Stop and type(value.why) is Why:  # as most are that are not CONTINUE
        return value
    if isinstance(value, (Continue, Save, Pause, Stop, Restart, Add)):
        return _whole(value, rule, hook)
    if value in ("CONTINUE", "NOOP"):
        return CONTINUE
    if value == "SAVE":
        return SAVE
    if value == "PAUSE":
        return Pause(Why(rule))
    if value == "STOP":
        return Stop(Why(rule))
    raise UsageError(
        f"{rule}.{hook} returned {value!r}: return Continue(), Save(), Pause(why), Stop(why), "
        'Restart(config, source, why), or one of "CONTINUE", "SAVE", "PAUSE", "STOP"'
    )


def check_choice(value: Any, rule: str) -> None:
    """Check that a scheduler may choose `value` to run.

    Raises:
        TypeError: `value` is not a trial.
        ValueError: The trial runs or has ended.
    """
    if not isinstance(value, Trial):
        raise UsageError(
            f"{rule}.choose_trial_to_run returned {value!r:.100}: return one of trials.runnable(), or None"
        )
    if value.status.is_placed or value.status.is_final:
        raise ArgumentError(
            f"{rule}.choose_trial_to_run returned trial {value.id}, which is {value.status.shown}: "
            "return one of trials.runnable(), or None"
        )


def _whole(decision: Decision, rule: str, hook: str) -> Decision:
    """Return the decision in a form that a journal can hold."""
    given: Any = decision
    config, why = getattr(given, "config", None), getattr(given, "why", None)
    needs_config = isinstance(given, (Restart, Add))
    if isinstance(config, Mapping) or (config is None and not needs_config):
        if why is None or type(why) is Why:
            return decision
        if isinstance(why, str):
            made: Decision = replace(given, why=Why(rule, note=why))
            return made
    raise UsageError(
        f"{rule}.{hook} returned {decision!r:.200}: a config is a dict, and a reason a text or Why(rule, ...)"
    )
