"""What a scheduler may rule on a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from overtone.core.message_class import message
from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Config, Why


@message
class Continue:
    """Go on; with other values of `params` where a config is given, without a restart."""

    config: Config | None = None


@message
class Save:
    """Save a checkpoint, then go on."""


@message
class Pause:
    """Save, give the resources back, and wait to be chosen again."""

    why: Why


@message
class Stop:
    """End for good."""

    why: Why


@message
class Restart:
    """Go on with another config, from the checkpoint of `source` (or one's own).

    From `review`, also for a trial that waits. `resources` is its demand from then on; by
    default that of the config.
    """

    config: Config
    source: str | None
    why: Why
    resources: Resources | None = None


@message
class Add:
    """A new trial, from the checkpoint of `source` where one is given; from `review` only."""

    config: Config
    source: str | None
    why: Why


Decision = Continue | Save | Pause | Stop | Restart | Add

CONTINUE = Continue()
SAVE = Save()


def as_decision(value: object, rule: str, hook: str = "on_result") -> Decision:
    """A decision from what a scheduler returned: one of ours, or today's string flags.

    A reason may be a text.

    Raises:
        TypeError: It is neither, or what it holds is not what it should.
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
    raise TypeError(
        f"{rule}.{hook} returned {value!r}: return Continue(), Save(), Pause(why), Stop(why), "
        'Restart(config, source, why), or one of "CONTINUE", "SAVE", "PAUSE", "STOP"'
    )


def check_choice(value: Any, rule: str) -> None:
    """Return if a scheduler may choose `value` to run.

    Raises:
        TypeError: It is not a trial.
        ValueError: It is a trial that runs, or has ended.
    """
    if not isinstance(value, Trial):
        raise TypeError(
            f"{rule}.choose_trial_to_run returned {value!r:.100}: return one of trials.runnable(), or None"
        )
    if value.status.is_placed or value.status.is_final:
        raise ValueError(
            f"{rule}.choose_trial_to_run returned trial {value.id}, which is {value.status.shown}: "
            "return one of trials.runnable(), or None"
        )


def _whole(decision: Decision, rule: str, hook: str) -> Decision:
    """The decision, such that a journal can hold it."""
    given: Any = decision
    config, why = getattr(given, "config", None), getattr(given, "why", None)
    needs_config = isinstance(given, (Restart, Add))
    if isinstance(config, Mapping) or (config is None and not needs_config):
        if why is None or type(why) is Why:
            return decision
        if isinstance(why, str):
            made: Decision = replace(given, why=Why(rule, note=why))
            return made
    raise TypeError(
        f"{rule}.{hook} returned {decision!r:.200}: a config is a dict, and a reason a text or Why(rule, ...)"
    )
