"""Requests at random, for tests of the controller at every moment of a run."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from overtone.core.controller import Controller
from overtone.core.requests import Requested
from overtone.core.resources import Resources
from overtone.core.types import Config

KINDS = (
    "stop_trial", "pause_trial", "pause_trial", "resume_trial", "save_trial", "add", "set_limits",
    "set_priority", "note",
)  # fmt: skip
"""The requests that do not end the experiment; pauses are most frequent."""


def random_request(
    random: Random,
    controller: Controller,
    config: Config,
    what: str | None = None,
    most_samples: int = 12,
    budgets_s: Sequence[float | None] = (None,),
) -> Requested:
    """Return a request of any kind, which the controller may refuse.

    Args:
        config: The config of an added trial.
        what: The kind; by chance if None.
        most_samples: Largest number of samples that it asks for.
        budgets_s: The time budgets that it asks for.
    """
    what = what or random.choice(KINDS)
    trials = list(controller.trials)
    trial = random.choice(trials) if trials else ""
    more: dict[str, Any] = {}
    if what == "add":
        is_clone = bool(trials) and random.random() < 0.4
        trial, more["config"] = (trial, {"cloned": True}) if is_clone else ("", config)
        more["source"] = random.choice([None, None, trial or None, *trials])
        more["resources"] = random.choice([None, None, Resources.of({"cpu": 0.5}), Resources.of({"cpu": 99})])
        more["priority"] = random.choice([None, 3.0])
    elif what == "set_limits":
        trial = ""
        some = {
            "max_concurrent": random.choice([None, 1, 2, 5]),
            "num_samples": random.randint(1, most_samples),
            "time_budget_s": random.choice(budgets_s),
        }
        more["limits"] = dict(random.sample(list(some.items()), random.randint(1, 2)))
    elif what == "set_priority":
        more["priority"] = float(random.randint(-2, 2))
    elif what == "note":
        trial = random.choice([trial, ""])
    request = random.choice(["", f"{random.randint(0, 99)}"])
    return Requested(0.0, what, trial, "noted", "a test", request, **more)  # type: ignore[arg-type]


def releases(controller: Controller) -> list[Requested]:
    """Return the requests that let all held trials go on."""
    return [Requested(0.0, "resume_trial", trial) for trial in sorted(controller.held)]
