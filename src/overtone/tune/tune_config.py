"""Options of a search as `Tuner` takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from overtone.errors import OvertoneError


@dataclass
class TuneConfig:
    """Search settings: goal, searcher, scheduler and budget.

    Attributes:
        mode: "max" or "min"; for several metrics a list.
        metric: The metric to optimise, or a list of several.
        search_alg: A searcher or its name; None for random and grid search.
        scheduler: A scheduler, its class or its name; None for first in, first out.
        num_samples: Number of samples of the space; -1 for no limit.
        max_concurrent_trials: Maximum number of trials that run at the same time; None or 0 for no limit.
        time_budget_s: Maximum time of the search, in seconds or as a timedelta.
        trial_limits: Limits for each trial, such as {"time_s": 3600, "memory": "2GB"}.
        reuse_actors: Keep a trial's process for the next trial, unless the trial leaves threads running.
            A class trainable that defines `reset_config` keeps its object as well.
        trial_name_creator: `trial -> name`, the name that output shows.
        trial_dirname_creator: `trial -> folder name`.
        chdir_to_trial_dir: Accepted: trials never change their working directory.
        seed: The seed of all random choices; None draws a seed, which is logged.
        priority: `config -> number`; trials with a higher number are chosen first.
        points_to_evaluate: Configs (may be partial) to evaluate first.
        warm_start: Earlier searches whose results the searcher observes first: folders of
            experiments, Overtone's or Ray Tune's, URLs of Optuna's storages, Optuna studies.
        constraints: Metrics that a good trial must keep at 0 or less; a mapping gives each
            its upper bound, such as {"latency_ms": 50}.
    """

    mode: str | Sequence[str] | None = None
    metric: str | Sequence[str] | None = None
    search_alg: Any = None
    scheduler: Any = None
    num_samples: int = 1
    max_concurrent_trials: int | None = None
    time_budget_s: float | timedelta | None = None
    trial_limits: Mapping[str, Any] | None = None
    reuse_actors: bool = False
    trial_name_creator: Callable[[Any], str] | None = None
    trial_dirname_creator: Callable[[Any], str] | None = None
    chdir_to_trial_dir: Any = None
    seed: int | None = None
    priority: Callable[[Mapping[str, Any]], float] | None = None
    points_to_evaluate: Sequence[Mapping[str, Any]] | None = None
    warm_start: Sequence[Any] = ()
    constraints: Sequence[str] | Mapping[str, float] = ()


@dataclass
class ResumeConfig:
    """Resume settings for an earlier experiment's trials.

    Attributes:
        finished: "skip": finished trials are kept unchanged. No other value is possible.
        unfinished: "resume": unfinished trials resume from their last checkpoint. No other value
            is possible.
        errored: "skip", "resume" (from the last checkpoint) or "restart" (from the beginning).
    """

    class ResumeType(Enum):
        """Choices for a group of trials."""

        RESUME = "resume"
        RESTART = "restart"
        SKIP = "skip"

    finished: ResumeType | str = ResumeType.SKIP
    unfinished: ResumeType | str = ResumeType.RESUME
    errored: ResumeType | str = ResumeType.SKIP

    def suffix(self) -> str:
        """Return the suffix for `resume="AUTO"`.

        Raises:
            OvertoneError: `finished` is not "skip", or `unfinished` is not "resume".
        """
        finished, unfinished, errored = (
            self.ResumeType(one) for one in (self.finished, self.unfinished, self.errored)
        )
        if finished is not self.ResumeType.SKIP or unfinished is not self.ResumeType.RESUME:
            raise OvertoneError(
                f"{self!r}: finished trials stay finished and unfinished ones go on; choose for errored alone"
            )
        return {"skip": "", "resume": "+ERRORED", "restart": "+RESTART_ERRORED"}[errored.value]
