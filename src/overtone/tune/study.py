"""`tune.ask_tell`: a search whose trials the caller's own loop runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from overtone.run.study import Study


def ask_tell(
    space: Any,
    *,
    metric: str | Sequence[str] | None = None,
    mode: str | Sequence[str] | None = None,
    scheduler: Any = None,
    search_alg: Any = None,
    num_samples: int = -1,
    time_budget_s: float | timedelta | None = None,
    stop: Any = None,
    name: str | None = None,
    storage_path: str | Path | None = None,
    resume: bool | str | None = False,
    seed: int | None = None,
    constraints: Sequence[str] | Mapping[str, float] | None = None,
    points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
    warm_start: Sequence[Any] | None = None,
    max_failures: int = 0,
    callbacks: Sequence[Any] | None = None,
    verbose: int = 0,
    durability: Literal["interval", "sync"] = "interval",
    tensorboard: bool | None = None,
    files: bool | None = None,
    **optunas: Any,
) -> Study:
    """Return a study: `trial = study.ask()`, `trial.report(...)`, `study.tell(trial, ...)`.

    The trials run in the caller's code, in this process, one or several at a time. All else is as in
    `tune.run`: the journal, the schedulers that only stop trials, the searchers, the commands.

    Args:
        space: The search space; or a list, generator or frame of configs.
        metric: The metric to optimise, or a list of several. `tell(trial, 0.3)` gives its value.
        mode: "max" or "min"; for several metrics a list.
        scheduler: A scheduler that stops trials, its class or its name, such as "asha", "median", "moasha" or
            "auto"; None stops none.
        search_alg: A searcher or its name; None for random and grid search.
        num_samples: Number of samples of the space, after which `ask` returns None; -1 for no limit.
        time_budget_s: Maximum time of the search, in seconds or as a timedelta; None for no limit.
        stop: When trials end: a dict such as {"training_iteration": 10}, a callable `(trial_id, result) ->
            bool`, a Stopper, or a list of these. `report` returns False then.
        name: The study's folder below `storage_path`; "study_<date>_<time>" when None.
        storage_path: The folder of all experiments, or a URL; `~/overtone_results` when None.
        resume: True, False, or "AUTO" to resume the earlier study if there is one. Trials that were open are
            asked first. Without a name, the last study is resumed.
        seed: The seed of all random choices. None draws it, from NumPy's state if imported, and logs it.
        constraints: Metrics that a good trial must keep at 0 or less; a mapping gives each its upper bound,
            such as {"latency_ms": 50}.
        points_to_evaluate: Configs (may be partial) to evaluate first; see also `Study.enqueue`.
        warm_start: Earlier searches whose results the searcher observes first: folders of experiments,
            Overtone's or Ray Tune's, URLs of Optuna's storages, Optuna studies.
        max_failures: Maximum number of times that a trial told as failed is asked again; -1 for no limit.
        callbacks: `Callback`s, called in a thread of the study.
        verbose: 0 for no output but errors and warnings, 1 for the table, 2 and 3 for more.
        durability: When the journal is on the disk: "interval" (fsync once a second) or "sync" (each batch).
        tensorboard: Whether event files are written; None writes them if the library is installed.
        files: Whether each trial has params.json, result.json, progress.csv and event files; None for all.
        optunas: `direction="minimize"` or `directions=[...]`, instead of `mode`. An error names what replaces
            the other arguments of `optuna.create_study`.

    Raises:
        UsageError: The scheduler pauses or restarts trials, as synchronous HyperBand and PBT do.
        LockHeldError: Another process holds the study; the message names it.
        OvertoneError, ValueError: The search cannot begin as described.
    """
    arguments = dict(locals())
    if optunas := arguments.pop("optunas"):
        from overtone.run.optuna_names import mode_of

        arguments["mode"] = mode_of(optunas, mode)
    from overtone.run.study import CallersCode, Study
    from overtone.tune.arguments import to_experiment

    return Study(to_experiment(CallersCode(), config=arguments.pop("space"), **arguments))
