"""The plan of an experiment: what will run. Nothing is touched: no folder, no lock, no algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from overtone.core.goal import Goal
from overtone.core.protocols import Engine, Searcher, TrialScheduler
from overtone.core.resources import Resources
from overtone.core.types import Config
from overtone.engines.default import why_ray
from overtone.errors import OvertoneError, ResourceError, TrainableError, UsageError
from overtone.experiment import Experiment
from overtone.run.algorithms import scheduler_for, searcher_for
from overtone.run.platform_check import check_platform
from overtone.run.resume.target import Wish, wish
from overtone.worker.trainables.demand import demand
from overtone.worker.trainables.with_parameters import Bound, as_bound, trainable_name

ENGINES = ("local", "ray", "inline", "simulated")
DEFAULT_DEMAND = Resources.of({"cpu": 1})


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment with its engine and its algorithms, none of which has begun.

    Attributes:
        name: The trainable's name.
        bound: The trainable with its parameters.
        why_engine: The reason of the choice of the engine.
        space: Parsed: once, for all who read configs by it.
        demand: The resources of each trial, if all have the same.
        resources: Returns the resources of a config's trial.
        asked: Whether to resume an earlier experiment.
    """

    experiment: Experiment
    name: str
    bound: Bound
    engine: Engine
    why_engine: str
    scheduler: TrialScheduler
    searcher: Searcher
    space: Any
    goal: Goal
    stoppers: list[Any]
    demand: Resources | None
    resources: Callable[[Config], Resources]
    has_tensorboard: bool
    asked: Wish

    @property
    def has_files(self) -> bool:
        """Whether trials have folders with files."""
        files = self.experiment.files
        return not self.engine.capabilities.repeats if files is None else files


def plan(experiment: Experiment) -> Plan:
    """Return what will run for `experiment`.

    Raises:
        OvertoneError, ValueError, TypeError: The experiment is invalid; the message says why.
    """
    check_platform()
    from overtone.observers.tensorboard.scalars import is_available
    from overtone.space import parse
    from overtone.stoppers import stop

    bound = as_bound(experiment.trainable)
    name = trainable_name(bound)
    engine, why_engine = engine_for(experiment.engine)
    if not engine.capabilities.repeats and _is_curve(bound.trainable, bound.parameters):
        raise TrainableError(
            f"{name} is a curve, which is not run but followed, on a virtual clock: give "
            "engine=tune.Simulated(workers=4). A trainable that runs has no argument t"
        )
    check_options(bound, engine)
    if experiment.restore is not None and engine.capabilities.repeats:
        raise OvertoneError(
            f"restore={str(experiment.restore)!r}: simulated trials begin at their beginning; leave it out"
        )
    scheduler = scheduler_for(experiment.scheduler)
    if scheduler.pauses and not engine.capabilities.pauses:
        raise UsageError(
            f"scheduler={type(scheduler).__name__}: it pauses or restarts trials, and trials that the caller "
            'runs cannot start again: choose "asha", "median", "moasha", "auto" or None, or use tune.run'
        )
    searcher, space = searcher_for(experiment, scheduler)
    goal = Goal.collect(
        [
            ("the call", experiment.metric, experiment.mode),
            ("the scheduler", scheduler.metric, scheduler.mode),
            ("the searcher", searcher.metric, searcher.mode),
        ],
        time_attr=scheduler.time_attr,
        is_needed=scheduler.needs_metric,
        constraints=experiment.constraints,
    )
    stoppers = stop(experiment.stop, goal.metric, goal.mode)
    space = parse(space)
    if space.constraint is not None and not searcher.takes_constraint:
        raise OvertoneError(
            f"{type(searcher).__name__} cannot keep to the constraint of the space: use random search, "
            'search_alg="sobol" or search_alg="auto", or leave the constraint out'
        )
    asked = wish(experiment.resume)
    asked_for = experiment.resources if experiment.resources is not None else bound.resources
    demand, resources = resources_for(asked_for, bound.trainable, engine.capabilities.spans_hosts)
    has_tensorboard = is_available() if experiment.tensorboard is None else experiment.tensorboard
    return Plan(
        experiment, name, bound, engine, why_engine, scheduler, searcher, space, goal, stoppers, demand,
        resources, has_tensorboard, asked,
    )  # fmt: skip


def engine_for(asked: Engine | str | None) -> tuple[Engine, str]:
    """Return the engine and the reason of the choice.

    Raises:
        OvertoneError: No engine has this name.
    """
    if isinstance(asked, Engine):
        return asked, "as given"
    if asked not in (None, *ENGINES):
        raise OvertoneError(
            f"engine={asked!r}: choose one of {', '.join(map(repr, ENGINES))}, or give an Engine"
        )
    why = f"engine={asked!r}" if asked else why_ray()
    if asked == "ray" or (asked is None and why):
        from overtone.run.ray_engine import ray_cluster

        return ray_cluster(), why
    why = why or "default"
    if asked == "inline":
        from overtone.engines.inline import Inline

        return Inline(), why
    if asked == "simulated":
        from overtone.engines.simulated import Simulated

        return Simulated(), why
    from overtone.engines.local import Local
    from overtone.machine import declared

    amounts = declared()
    cpus, gpus = amounts.pop("cpu", None), amounts.pop("gpu", None)
    memory, gpu_memory = amounts.pop("memory", None), amounts.pop("gpu_memory", None)
    whole = None if gpus is None else int(gpus)
    return Local(cpus, whole, memory, amounts or None, gpu_memory=gpu_memory), why


def check_options(bound: Bound, engine: Engine) -> None:
    """Refuse trial options that only a cluster supports; a simulation ignores them.

    Raises:
        OvertoneError: There are such options, and the engine runs trials on this machine.
    """
    if engine.capabilities.spans_hosts or engine.capabilities.repeats:
        return
    for name, value, instead in (
        ("runtime_env", bound.runtime_env, 'set os.environ before the run, or use engine="ray"'),
        ("label_selector", bound.label_selector, 'leave it out, or use engine="ray"'),
    ):
        if value:
            raise OvertoneError(f"{name}={value!r}: only a Ray cluster has that; on one machine {instead}")


def resources_for(
    asked: Any, trainable: Any, is_cluster: bool = False
) -> tuple[Resources | None, Callable[[Config], Resources]]:
    """Return the demand of all trials, if it is constant, and a function that returns a config's demand.

    Raises:
        UsageError: `asked` is given for a trainable that counts its own resources.
        ResourceError: GPU memory is asked for on a cluster; so does the function.
    """
    if asked is None:
        asked = getattr(trainable, "default_resource_request", None)
    elif getattr(trainable, "counts_resources", False):
        raise UsageError(
            f"resources_per_trial={asked!r:.100}: leave it out for {trainable.__name__}; "
            f"{trainable.resource_help({})}"
        )
    wanted = demand(asked)
    if callable(wanted) and is_cluster:
        return None, lambda config: _without_gpu_memory(wanted(config) or DEFAULT_DEMAND)
    if callable(wanted):
        return None, lambda config: wanted(config) or DEFAULT_DEMAND
    fixed = wanted or DEFAULT_DEMAND
    if is_cluster:
        _without_gpu_memory(fixed)
    return fixed, lambda _: fixed


def _without_gpu_memory(wanted: Resources) -> Resources:
    if wanted.gpu_memory or wanted.auto is not None:
        raise ResourceError(
            "gpu_memory: a Ray cluster does not count the memory of GPUs: ask for a fraction, such as "
            '{"gpu": 0.25}, or use engine="local"'
        )
    return wanted


def _is_curve(trainable: Any, parameters: Mapping[str, Any]) -> bool:
    """Return whether the trainable is a table, or a function of (config, t)."""
    code = getattr(trainable, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    return hasattr(trainable, "curve_of") or (names[1:2] == ("t",) and "t" not in parameters)
