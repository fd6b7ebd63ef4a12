"""The options of a search as `Tuner` takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from overtone.errors import OvertoneError


@dataclass
class TuneConfig:
    """What is searched for, and how.

    Attributes:
        mode: "max" or "min"; for several metrics a list.
        metric: The metric to optimise, or a list of several.
        search_alg: None for random and grid search.
        scheduler: None for first in, first out.
        num_samples: How often the space is sampled; -1 without end.
        max_concurrent_trials: At most so many trials at once; None or 0 for no limit.
        time_budget_s: End the search after so many seconds, or after a timedelta.
        trial_limits: What each trial may use, such as {"time_s": 3600, "memory": "2GB"}.
        reuse_actors: Keep a trial's process for the next one, unless the trial leaves threads running.
            A class trainable that defines `reset_config` keeps its object as well.
        trial_name_creator: `trial -> name`, shown to people.
        trial_dirname_creator: `trial -> folder name`.
        chdir_to_trial_dir: Accepted: trials never change their working directory.
        seed: None draws one, which is logged.
        priority: `config -> number`; trials with a higher one are chosen first.
        points_to_evaluate: Configs (may be partial) to try first.
        warm_start: Earlier searches that the searcher learns from before it begins: folders of
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
    """What becomes of an earlier experiment's trials when it is resumed.

    Attributes:
        finished: They stay as they are; nothing else is possible.
        unfinished: They go on from their last checkpoint; nothing else is possible.
        errored: They stay as they are, go on from their last checkpoint, or begin again.
    """

    class ResumeType(Enum):
        """The choices."""

        RESUME = "resume"
        RESTART = "restart"
        SKIP = "skip"

    finished: ResumeType | str = ResumeType.SKIP
    unfinished: ResumeType | str = ResumeType.RESUME
    errored: ResumeType | str = ResumeType.SKIP

    def suffix(self) -> str:
        """What it adds to `resume="AUTO"`.

        Raises:
            OvertoneError: It asks for what Overtone does not do.
        """
        finished, unfinished, errored = (
            self.ResumeType(one) for one in (self.finished, self.unfinished, self.errored)
        )
        if finished is not self.ResumeType.SKIP or unfinished is not self.ResumeType.RESUME:
            raise OvertoneError(
                f"{self!r}: finished trials stay finished and unfinished ones go on; choose for errored alone"
            )
        return {"skip": "", "resume": "+ERRORED", "restart": "+RESTART_ERRORED"}[errored.value]
