"""Conversion of the arguments of `tune.run`, of all API versions, to an `Experiment`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from overtone import machine
from overtone.errors import OvertoneError, TrainableError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.lazy import nearest
from overtone.named import create_scheduler, create_searcher
from overtone.searchers.old_forms import known_form
from overtone.tune.demand import demand
from overtone.tune.registry import registered
from overtone.tune.schedulers.trial_scheduler import refuse_old_hooks
from overtone.tune.trial import with_shown_trial
from overtone.worker.trainables.with_parameters import Bound, trainable_name

NATIVE = frozenset(
    {
        "captures_output", "constraints", "durability", "engine", "files", "grace_s", "priority", "resume",
        "seed", "storage_patience_s", "tensorboard", "trial_limits", "warm_start",
    }
)  # fmt: skip
"""Arguments that are fields of `Experiment` under the same name."""

ARGUMENTS = {
    "config": "space", "search_alg": "searcher", "resources_per_trial": "resources",
    "max_concurrent_trials": "max_concurrent", "reuse_actors": "reuse", "progress_reporter": "reporter",
    "trial_name_creator": "trial_name", "trial_dirname_creator": "trial_folder",
    "storage_path": "storage", "local_dir": "storage", "checkpoint_config": "checkpoints",
    "loggers": "callbacks",
}  # fmt: skip
"""Arguments of `tune.run` that are fields of `Experiment` under another name."""

CHECKPOINT_ARGUMENTS = {
    "checkpoint_freq": ("every",), "checkpoint_at_end": ("at_end",), "keep_checkpoints_num": ("keep",),
    "checkpoint_score_attr": ("order", "order_mode"), "max_disk": ("max_disk",),
}  # fmt: skip
"""Arguments that are fields of `CheckpointPolicy`."""

SILENT = frozenset(
    {
        "autosync", "chdir_to_trial_dir", "global_checkpoint_period", "queue_trials", "ray_auto_init",
        "reuse", "server_port", "storage_filesystem", "sync_config", "sync_function", "sync_on_checkpoint",
        "sync_to_driver", "verbose_level", "with_server",
    }
)  # fmt: skip
"""Arguments that are accepted and ignored without a warning."""

WITHOUT_EFFECT = frozenset({"export_formats", "sync_to_cloud", "trial_executor", "upload_dir"})
"""Arguments without effect in Overtone: accepted with one warning if they are set."""

LATER = {
    "restore": "starting a trial from a checkpoint's path",
}
"""Arguments that this version does not support: an error if they are set."""


def to_experiment(
    run_or_experiment: Any,
    name: str | None = None,
    metric: str | Sequence[str] | None = None,
    mode: str | Sequence[str] | None = None,
    stop: Any = None,
    time_budget_s: float | timedelta | None = None,
    config: Any = None,
    resources_per_trial: Any = None,
    num_samples: int = 1,
    storage_path: str | Path | None = None,
    local_dir: str | Path | None = None,
    search_alg: Any = None,
    scheduler: Any = None,
    checkpoint_config: Any = None,
    keep_checkpoints_num: int | None = None,
    checkpoint_score_attr: str | None = None,
    checkpoint_freq: int | None = None,
    checkpoint_at_end: bool | None = None,
    max_disk: float | str | None = None,
    verbose: int | None = None,
    progress_reporter: Any = None,
    log_to_file: bool | str | Sequence[str] = False,
    trial_name_creator: Callable[[Any], str] | None = None,
    trial_dirname_creator: Callable[[Any], str] | None = None,
    max_failures: int = 0,
    fail_fast: bool | str = False,
    reuse_actors: bool | None = None,
    raise_on_failed_trial: bool = True,
    callbacks: Sequence[Any] | None = None,
    loggers: Sequence[Any] | None = None,
    max_concurrent_trials: int | None = None,
    points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
    seed: int | None = None,
    engine: Any = None,
    resume_config: Any = None,
    **others: Any,
) -> Experiment:
    """Return the experiment that these arguments of `tune.run` describe.

    Args:
        others: More fields of `Experiment` (`NATIVE`), and arguments of earlier versions of
            the API.

    Raises:
        TypeError: An argument is unknown; the message suggests the nearest name.
        ValueError: Two arguments contradict each other.
        OvertoneError: An argument is not supported by this version.
    """
    others = _known(others)
    if resume_config is not None:
        asked = others.get("resume")
        others["resume"] = f"{asked if isinstance(asked, str) else 'LOCAL'}{resume_config.suffix()}"
    trainable = trainable_of(run_or_experiment)
    shown_name = trainable_name(trainable)
    return Experiment(
        trainable=trainable,
        space={} if config is None else config,
        name=name,
        storage=_one("storage_path", storage_path, "local_dir", local_dir),
        num_samples=num_samples,
        metric=metric,
        mode=mode,
        scheduler=create_scheduler(scheduler) if isinstance(scheduler, str) else refuse_old_hooks(scheduler),
        searcher=create_searcher(search_alg) if isinstance(search_alg, str) else known_form(search_alg),
        stop=stop,
        resources=demand(_own_demand(trainable) if resources_per_trial is None else resources_per_trial),
        max_concurrent=max_concurrent_trials or None,
        max_failures=max_failures,
        fail_fast=fail_fast,
        time_budget_s=_seconds(time_budget_s),
        reuse=bool(reuse_actors),
        log_to_file=log_to_file,
        checkpoints=_policy(
            checkpoint_config,
            CheckpointPolicy(
                every=checkpoint_freq,
                at_end=checkpoint_at_end,
                keep=keep_checkpoints_num,
                max_disk=max_disk,
                **_order(checkpoint_score_attr),
            ),
        ),
        callbacks=_callbacks(callbacks, loggers),
        reporter=progress_reporter,
        verbose=2 if verbose is None else int(verbose),
        seed=seed,
        engine=engine or ("inline" if machine.is_local_mode() else None),
        trial_name=with_shown_trial(trial_name_creator, shown_name),
        trial_folder=with_shown_trial(trial_dirname_creator, shown_name),
        points_to_evaluate=tuple(points_to_evaluate or ()),
        raise_on_failed_trial=raise_on_failed_trial,
        **others,
    )


def trainable_of(given: Any) -> Any:
    """Return the trainable: looked up if a name is given, made if a trainer is given.

    Raises:
        TrainableError: `given` is not callable, or the name is not registered.
    """
    if isinstance(given, str):
        return registered(given)
    if not isinstance(given, type) and hasattr(given, "as_trainable"):
        return given.as_trainable()
    if not callable(given):
        raise TrainableError(
            f"{given!r:.200} cannot be trained: give a function, a class with step(), or another callable, "
            "and not what it returned"
        )
    return given


def _own_demand(trainable: Any) -> Any:
    """Return the resources given to `with_resources`, or None."""
    return trainable.resources if isinstance(trainable, Bound) else None


def _known(others: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of `Experiment` in `others`; warn or raise for the rest by name."""
    for name in others:
        if name not in NATIVE | SILENT | WITHOUT_EFFECT | LATER.keys() and not name.startswith("_"):
            raise TypeError(f"tune.run() has no argument {name!r}{nearest(name, names())}")
    given = {name: value for name, value in others.items() if value}
    for name in given.keys() & LATER.keys():
        raise OvertoneError(
            f"{name}={given[name]!r}: {LATER[name]} is not available in this version of Overtone; "
            f"leave {name} out to run anew (a used name moves the old results aside)"
        )
    if getattr(given.get("sync_config"), "upload_dir", None):
        given["upload_dir"] = given["sync_config"].upload_dir
    idle = sorted(given.keys() & WITHOUT_EFFECT)
    if idle:
        warnings.warn(f"tune.run: {', '.join(idle)} has no effect in Overtone", stacklevel=4)
    return {name: value for name, value in others.items() if name in NATIVE}


def _callbacks(given: Any, loggers: Sequence[Any] | None) -> Any:
    """Return the callbacks, plus one that makes the loggers of each trial."""
    callbacks = tuple(given) if isinstance(given, list) else given or ()
    if not loggers:
        return callbacks
    from overtone.tune.logger import TrialLoggers, is_own

    own = [one for one in loggers if is_own(one)]
    return (*callbacks, TrialLoggers(own)) if own else callbacks


def names() -> list[str]:
    """Return the names of all arguments that `to_experiment` accepts."""
    import inspect

    own = [name for name in inspect.signature(to_experiment).parameters if name != "others"]
    return [*own, *sorted(NATIVE | SILENT | WITHOUT_EFFECT | LATER.keys())]


def _one(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """Return the value of an argument that has two names."""
    if value is not None and old_value is not None and str(value) != str(old_value):
        raise ValueError(f"{name}={value!r} and {old_name}={old_value!r} are the same option: give one")
    return old_value if value is None else value


def _seconds(budget: float | timedelta | None) -> float | None:
    return budget.total_seconds() if isinstance(budget, timedelta) else budget


def _order(attribute: str | None) -> dict[str, Any]:
    """Return the order of checkpoints: `min-loss` ranks the lowest "loss" first, other texts the highest."""
    if not attribute:
        return {}
    if attribute.startswith("min-"):
        return {"order": attribute.removeprefix("min-"), "order_mode": "min"}
    return {"order": attribute}


def _policy(config: Any, single: CheckpointPolicy) -> CheckpointPolicy:
    """Return the policy of a `CheckpointConfig` or of the single arguments; both are an error."""
    if config is None:
        return single
    if single != CheckpointPolicy():
        raise ValueError(
            "checkpoint_config and checkpoint_freq, checkpoint_at_end, keep_checkpoints_num, "
            "checkpoint_score_attr or max_disk are the same options: give one or the other"
        )
    return CheckpointPolicy(
        every=config.checkpoint_frequency,
        at_end=config.checkpoint_at_end,
        keep=config.num_to_keep,
        order=config.checkpoint_score_attribute,
        order_mode=config.checkpoint_score_order or "max",
        max_disk=getattr(config, "max_disk", None),
    )
