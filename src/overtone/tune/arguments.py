"""Conversion of the arguments of `tune.run`, of all API versions, to an `Experiment`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from overtone import machine
from overtone.errors import ArgumentError, TrainableError, UsageError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.keywords import check_config
from overtone.lazy import nearest
from overtone.named import create_scheduler, create_searcher
from overtone.option import options
from overtone.tune.environment import settings
from overtone.tune.registry import registered
from overtone.tune.trial import with_shown_trial
from overtone.worker.trainables.demand import ScalingConfig, demand
from overtone.worker.trainables.with_parameters import Bound, as_bound, trainable_name

FIELDS = {
    argument: name for name, one in options(Experiment).items() for argument in (one.argument, *one.also)
}
"""The field of `Experiment` that each argument sets."""

POLICY = {name: one.argument for name, one in options(CheckpointPolicy).items()}
"""The argument that sets each field of `CheckpointPolicy`."""

SILENT = frozenset(
    {
        "storage_filesystem", "sync_config",
    }
)  # fmt: skip
"""Arguments that are accepted, and warned of elsewhere where a part of them has no effect."""

WITHOUT_EFFECT = frozenset(
    {
        "autosync", "global_checkpoint_period", "queue_trials", "ray_auto_init", "reuse", "server_port",
        "sync_function", "sync_on_checkpoint", "sync_to_cloud", "sync_to_driver", "trial_executor",
        "upload_dir", "verbose_level", "with_server",
    }
)  # fmt: skip
"""Arguments without effect in Overtone: accepted with one warning if they are set."""


def to_experiment(run_or_experiment: Any, **arguments: Any) -> Experiment:
    """Return the experiment that these arguments of `tune.run` describe; None means the default.

    Raises:
        TypeError: An argument is unknown; the message suggests the nearest name.
        ValueError: Two arguments contradict each other.
    """
    known = _known(arguments)
    if hasattr(as_bound(run_or_experiment).trainable, "as_trainable") and "config" in known:
        known["config"] = _with_plain_scaling(known["config"])
    trainable = trainable_of(run_or_experiment)
    shown_name = trainable_name(trainable)
    given = _with_environment(known, shown_name)
    values: dict[str, Any] = {name: given.get(one.argument) for name, one in options(Experiment).items()}
    own_demand = trainable.resources if isinstance(trainable, Bound) else None
    scheduler, searcher, budget = values["scheduler"], values["searcher"], values["time_budget_s"]
    values |= {
        "storage": _one("storage_path", "local_dir", given),
        "scheduler": create_scheduler(scheduler) if isinstance(scheduler, str) else scheduler,
        "searcher": create_searcher(searcher) if isinstance(searcher, str) else searcher,
        "resources": demand(given.get("resources_per_trial", own_demand)),
        "max_concurrent": values["max_concurrent"] or None,
        "time_budget_s": budget.total_seconds() if isinstance(budget, timedelta) else budget,
        "reuse": bool(values["reuse"]),
        "checkpoints": _policy(given),
        "callbacks": _callbacks(values["callbacks"], given.get("loggers"), values["files"] is not False),
        "chdir_to_trial_dir": _flag(values["chdir_to_trial_dir"]),
        "engine": values["engine"] or ("inline" if machine.is_local_mode() else None),
        "trial_name": with_shown_trial(values["trial_name"], shown_name, values["space"]),
        "trial_folder": with_shown_trial(values["trial_folder"], shown_name, values["space"]),
        "points_to_evaluate": tuple(values["points_to_evaluate"] or ()),
        "resume": _resume(values["resume"], given.get("resume_config")),
    }
    return Experiment(trainable, **{name: value for name, value in values.items() if value is not None})


def trainable_of(given: Any) -> Any:
    """Return the trainable: looked up if a name is given, made if a trainer is given.

    Raises:
        TrainableError: `given` is not callable, or the name is not registered.
    """
    if isinstance(given, str):
        return replace(as_bound(trainable_of(registered(given))), name=given.replace("/", "_"))
    if isinstance(given, Bound):
        inner = as_bound(trainable_of(given.trainable))
        if inner.trainable is given.trainable:
            return given
        parameters = {**inner.parameters, **given.parameters}
        return replace(given, trainable=inner.trainable, name=inner.name, parameters=parameters)
    if not isinstance(given, type) and hasattr(given, "as_trainable"):
        return given.as_trainable()
    if isinstance(given, type) and (function := getattr(given, "wrapped_function", None)) is not None:
        return function  # of `tune.trainable.wrap_function`
    if not callable(given):
        raise TrainableError(
            f"{given!r:.200} cannot be trained: give a function, a class with step(), or another callable, "
            "and not what it returned"
        )
    return given


def _with_plain_scaling(space: Any) -> Any:
    """Return a trainer's space; a ScalingConfig in it becomes a dict, which may hold domains."""
    scaling = space.get("scaling_config") if isinstance(space, Mapping) else None
    if not isinstance(scaling, ScalingConfig):
        return space
    return {**space, "scaling_config": scaling.changes()}


def _known(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are set; warn or raise for those without effect, and unknown ones."""
    known = [*FIELDS, *POLICY.values(), *sorted(SILENT | WITHOUT_EFFECT)]
    for name in arguments:
        if name not in known and not name.startswith("_"):
            raise UsageError(f"tune.run() has no argument {name!r}{nearest(name, known)}")
    upload_dir = getattr(arguments.get("sync_config"), "upload_dir", None) or arguments.get("upload_dir")
    idle = {name for name in WITHOUT_EFFECT if {**arguments, "upload_dir": upload_dir}.get(name)}
    if idle:
        instead = f"; results go to storage_path={upload_dir!r} if you give it" if upload_dir else ""
        warnings.warn(f"tune.run: {', '.join(sorted(idle))} has no effect in Overtone{instead}", stacklevel=5)
    return {name: value for name, value in arguments.items() if value is not None}


def _with_environment(given: dict[str, Any], trainable: str) -> dict[str, Any]:
    """Return the arguments, completed by those that environment variables set."""
    found = settings(trainable)
    if "local_dir" in given:
        found.pop("storage_path", None)
    callbacks = found.pop("callbacks", [])
    completed = {**found, **given}
    if callbacks:
        completed["callbacks"] = [*given.get("callbacks", ()), *callbacks]
    return completed


def _callbacks(given: Any, loggers: Sequence[Any] | None, writes_files: bool) -> Any:
    """Return the callbacks that the run calls; see `tune.logger.choice`."""
    if not (given or loggers) or not hasattr(given or (), "__iter__") or isinstance(given, str):
        return given or ()
    from overtone.tune.logger.choice import chosen

    return chosen(given or (), loggers or (), writes_files)


def _flag(given: Any) -> bool | None:
    return None if given is None else bool(given)


def _one(name: str, old_name: str, given: Mapping[str, Any]) -> Any:
    """Return the value of an argument that has two names."""
    value, old_value = given.get(name), given.get(old_name)
    if value is not None and old_value is not None and str(value) != str(old_value):
        raise ArgumentError(f"{name}={value!r} and {old_name}={old_value!r} are the same option: give one")
    return old_value if value is None else value


def _resume(asked: Any, config: Any) -> Any:
    """Return the value of `resume`, with the choices of a `ResumeConfig`."""
    check_config("resume_config", config, "ResumeConfig")
    return asked if config is None else f"{asked if isinstance(asked, str) else 'LOCAL'}{config.suffix()}"


def _policy(given: Mapping[str, Any]) -> CheckpointPolicy:
    """Return the policy of a `CheckpointConfig` or of the single arguments; both are an error.

    As a single argument, `min-loss` keeps the lowest "loss", and other texts the highest.
    """
    values: dict[str, Any] = {name: given.get(argument) for name, argument in POLICY.items()}
    order, config = values["order"] or "", given.get("checkpoint_config")
    if isinstance(order, str):  # other types are refused with the options
        values["order"] = order.removeprefix("min-") or None
        values["order_mode"] = "min" if order.startswith("min-") else None
    check_config("checkpoint_config", config, "CheckpointConfig")
    if config is not None:
        if any(value is not None for value in values.values()):
            *first, last = dict.fromkeys(POLICY.values())
            raise ArgumentError(
                f"checkpoint_config and {', '.join(first)} or {last} are the same options: "
                "give one or the other"
            )
        values = {
            name: getattr(config, one.config_name)
            for name, one in options(CheckpointPolicy).items()
            if name != "max_disk" or hasattr(config, "max_disk")  # Ray's has none.
        }
    return CheckpointPolicy(**{name: value for name, value in values.items() if value is not None})
