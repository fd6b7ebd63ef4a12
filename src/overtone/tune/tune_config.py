"""The options of a search as `Tuner` takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any


@dataclass
class TuneConfig:
    """What is searched for, and how.

    Attributes:
        mode: "max" or "min".
        metric: The metric to optimise.
        search_alg: None for random and grid search.
        scheduler: None for first in, first out.
        num_samples: How often the space is sampled; -1 without end.
        max_concurrent_trials: At most so many trials at once; None or 0 for no limit.
        time_budget_s: End the search after so many seconds, or after a timedelta.
        reuse_actors: Keep a trial's process for the next one.
        trial_name_creator: `trial -> name`, shown to people.
        trial_dirname_creator: `trial -> folder name`.
        chdir_to_trial_dir: Accepted: trials never change their working directory.
        seed: None draws one, which is logged.
        priority: `config -> number`; trials with a higher one are chosen first.
    """

    mode: str | None = None
    metric: str | None = None
    search_alg: Any = None
    scheduler: Any = None
    num_samples: int = 1
    max_concurrent_trials: int | None = None
    time_budget_s: float | timedelta | None = None
    reuse_actors: bool = False
    trial_name_creator: Callable[[Any], str] | None = None
    trial_dirname_creator: Callable[[Any], str] | None = None
    chdir_to_trial_dir: Any = None
    seed: int | None = None
    priority: Callable[[Mapping[str, Any]], float] | None = None
