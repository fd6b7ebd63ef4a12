"""From what the user asked for to the parts that do it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.core.controller import Controller
from overtone.core.goal import Goal, lookup
from overtone.core.limits import Limits
from overtone.core.protocols import Engine, Observer, Searcher, TrialScheduler
from overtone.core.randomness import Random
from overtone.core.resources import Resources
from overtone.core.retention import Retention
from overtone.core.template import Template, equal
from overtone.core.types import WORST, Config, Result
from overtone.errors import OvertoneError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.run.earlier import warm
from overtone.run.folder import bring, prepare, reopen, root_of
from overtone.run.found import Errored, count_in_process, find, header_of, main_script, wish
from overtone.run.place import Place
from overtone.run.resuming import limits_of
from overtone.worker.bound import as_bound, trainable_name

if TYPE_CHECKING:
    from overtone.journal.codec import Codec
    from overtone.journal.writer import JournalWriter
    from overtone.observers.console import Console

ENGINES = ("local", "ray", "inline", "simulated")
DEFAULT_DEMAND = Resources.of({"cpu": 1})


@dataclass(slots=True)
class Parts:
    """An experiment's parts, made and joined, before anything runs."""

    name: str
    folder: Path
    moved: str
    seed: int
    space: Any
    goal: Goal
    scheduler: TrialScheduler
    searcher: Searcher
    stoppers: list[Any]
    controller: Controller
    engine: Engine
    why_engine: str
    demand: Resources | None
    has_tensorboard: bool
    limits: Limits
    nth: int
    place: Place
    past: Past | None = None
    earlier: Sequence[Mapping[str, Any]] = ()
    earlier_line: str = ""


@dataclass(slots=True)
class Past:
    """An experiment that is gone on with.

    Attributes:
        journal: Reopened, so that no other driver writes; not read yet.
        header: What its first record says.
        errored: What becomes of trials that had ended in an error.
    """

    journal: JournalWriter
    header: Mapping[str, Any]
    errored: Errored


def compose(experiment: Experiment) -> Parts:
    """The parts of `experiment`; its folder is made, nothing else is touched.

    Raises:
        OvertoneError, ValueError, TypeError: What was asked for cannot be; the message says why.
    """
    bound = as_bound(experiment.trainable)
    name = trainable_name(bound.trainable)
    engine, why_engine = engine_for(experiment.engine)
    scheduler = scheduler_for(experiment.scheduler)
    searcher, space = searcher_for(experiment, scheduler)
    asked, nth = wish(experiment.resume), count_in_process()
    if asked.kind != "no":
        bring(experiment.storage, experiment.name, name)
    folder, hint = find(root_of(experiment.storage), experiment.name, name, asked, nth)
    header = header_of(folder) if folder is not None else {}
    seed = experiment.seed if experiment.seed is not None else Random().getrandbits(32)
    seed = header.get("seed", seed)  # what was drawn must be drawn again
    goal = Goal.collect(
        [
            ("the call", experiment.metric, experiment.mode),
            _named("the scheduler", scheduler),
            _named("the searcher", searcher),
        ],
        time_attr=scheduler.time_attr,
        is_needed=scheduler.needs_metric,
        constraints=experiment.constraints,
    )
    from overtone.observers.tensorboard import is_available
    from overtone.space import parse
    from overtone.stoppers import stop, time_budget_s

    stoppers = stop(experiment.stop, goal.metric, goal.mode)
    space = parse(space)  # once, for all who read configs by it
    searcher.goal = goal
    if space.constraint is not None and not searcher.takes_constraint:
        raise OvertoneError(
            f"{type(searcher).__name__} cannot keep to the constraint of the space: use random search, "
            'search_alg="sobol" or search_alg="auto", or leave the constraint out'
        )
    searcher.on_start(space, seed)
    earlier, earlier_line = warm(
        experiment.warm_start, searcher, space, goal, header.get("earlier", () if header else None), learns
    )
    total = _total(searcher, experiment)
    demand, resources = resources_for(
        experiment.resources if experiment.resources is not None else bound.resources, bound.trainable
    )
    budget = min(
        (one for one in (experiment.time_budget_s, time_budget_s(stoppers)) if one is not None), default=None
    )
    limits = Limits(
        total=total,
        lookahead=0 if total is None else searcher.lookahead,
        max_concurrent=_smallest(experiment.max_concurrent, getattr(searcher, "max_concurrent", None)),
        max_failures=experiment.max_failures,
        fail_fast=bool(experiment.fail_fast),
        time_budget_s=budget,
        is_elastic=engine.is_elastic,
    )
    controller = Controller(
        scheduler,
        goal,
        stoppers=stoppers,
        limits=limits_of(header) or limits,
        template=Template(resources, _tagger(space), experiment.priority or equal, experiment.trial_name),
        retention=Retention(experiment.checkpoints.keep, experiment.checkpoints.most_bytes),
        checkpoint_worth=_worth(experiment.checkpoints),
        seed=seed,
        observes=learns(searcher),
        earlier=_earlier,
    )
    past, moved = None, hint
    if folder is not None:
        with ExitStack() as held:
            place = held.enter_context(reopen(folder, type(engine).__name__, experiment.storage_patience_s))
            past = Past(reopened(folder, experiment, space), header, asked.errored)
            held.pop_all()
    else:
        place = prepare(
            experiment.storage, experiment.name, name, datetime.now(), type(engine).__name__,
            experiment.storage_patience_s,
        )  # fmt: skip
        moved = moved or place.moved
    return Parts(
        name,
        place.folder,
        moved,
        seed,
        space,
        goal,
        scheduler,
        searcher,
        stoppers,
        controller,
        engine,
        why_engine,
        demand,
        is_available() if experiment.tensorboard is None else experiment.tensorboard,
        limits,
        nth,
        place,
        past,
        earlier,
        earlier_line,
    )


def engine_for(asked: Engine | str | None) -> tuple[Engine, str]:
    """The engine, and why it is this one."""
    if isinstance(asked, Engine):
        return asked, "as given"
    if asked not in (None, *ENGINES):
        raise OvertoneError(
            f"engine={asked!r}: choose one of {', '.join(map(repr, ENGINES))}, or give an Engine"
        )
    why = f"engine={asked!r}" if asked else _why_ray()
    if asked == "ray" or (asked is None and why):
        from overtone.run.on_ray import ray_cluster

        return ray_cluster(), why
    why = why or "nothing else was asked for"
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
    memory = amounts.pop("memory", None)
    return Local(cpus, None if gpus is None else int(gpus), memory, amounts or None), why


def _why_ray() -> str:
    """Why an experiment that names no engine runs on Ray; "" where it does not."""
    ray: Any = sys.modules.get("ray")
    if getattr(ray, "__name__", "") == "ray" and getattr(ray, "is_initialized", lambda: False)():
        return "Ray is initialised in this process"
    address = os.environ.get("RAY_ADDRESS")
    return f"RAY_ADDRESS={address}" if address else ""


def scheduler_for(asked: Any) -> TrialScheduler:
    """The scheduler: FIFO for None, an instance for a class, a short name's for text."""
    if asked is None:
        from overtone.schedulers.fifo import FIFOScheduler

        return FIFOScheduler()
    if isinstance(asked, str):
        from overtone.named import create_scheduler

        asked = create_scheduler(asked)
    made = asked() if isinstance(asked, type) else asked
    if not isinstance(made, TrialScheduler):
        raise OvertoneError(
            f"scheduler={asked!r} is not a TrialScheduler: give one of overtone.tune.schedulers, "
            "or subclass overtone.tune.schedulers.TrialScheduler"
        )
    return made


def searcher_for(experiment: Experiment, scheduler: TrialScheduler | None = None) -> tuple[Searcher, Any]:
    """The searcher, and the space that it searches.

    A scheduler that is also a searcher serves as one where no other is given, and one that
    has `complete(space, earlier)` has a say in the space.
    """
    from overtone.searchers import BasicVariantGenerator, Listed, is_listing
    from overtone.space import Space

    space, searcher = experiment.space, experiment.searcher
    own = getattr(as_bound(experiment.trainable).trainable, "default_search_space", None)
    if own is not None and isinstance(space, Mapping) and not space:
        space = own()  # a table knows what may be drawn from it
    complete = getattr(scheduler, "complete", None)
    if complete is not None and not is_listing(space) and isinstance(space or {}, Mapping):
        constraint = getattr(space, "constraint", None)
        space = complete(space or {}, _earlier)
        space = Space(space, constraint) if constraint else space
    if isinstance(scheduler, Searcher) and (searcher is None or type(searcher) is type(scheduler)):
        searcher = scheduler
    if is_listing(space):
        if searcher is not None:
            raise OvertoneError(
                "config is a list of configurations, so there is nothing for search_alg to choose"
            )
        return Listed(space, num_samples=experiment.num_samples), {}
    if isinstance(searcher, Searcher) and getattr(searcher, "points_to_evaluate", None) == []:
        searcher = _with_points(searcher, experiment.points_to_evaluate)
    elif searcher is not None and experiment.points_to_evaluate:
        raise OvertoneError(
            "points_to_evaluate is for random and grid search; give it to the searcher instead: "
            f"search_alg={getattr(type(searcher), '__name__', searcher)}(points_to_evaluate=[...])"
        )
    if searcher is None:
        return BasicVariantGenerator(
            experiment.points_to_evaluate or None, num_samples=experiment.num_samples
        ), space
    if isinstance(searcher, str):
        from overtone.named import create_searcher

        searcher = create_searcher(searcher)
    if not isinstance(searcher, Searcher):
        raise OvertoneError(
            f"search_alg={searcher!r} is not a Searcher: give one of overtone.tune.search, "
            "or subclass overtone.tune.search.Searcher"
        )
    if getattr(searcher, "num_samples", 0) is None:
        searcher = copy(searcher)  # it may serve another run, of another size
        searcher.num_samples = experiment.num_samples  # type: ignore[attr-defined]
    return searcher, space


def _with_points(searcher: Any, points: Sequence[Mapping[str, Any]]) -> Any:
    """The searcher with what the call says should be tried first."""
    if not points:
        return searcher
    searcher = copy(searcher)  # it may serve another run
    searcher.points_to_evaluate = list(points)
    args, kwargs = searcher.arguments
    searcher.arguments = args, {**kwargs, "points_to_evaluate": searcher.points_to_evaluate}
    return searcher


def resources_for(asked: Any, trainable: Any) -> tuple[Resources | None, Callable[[Config], Resources]]:
    """The demand that every trial has, if it is one, and the demand of a config."""
    request = getattr(trainable, "default_resource_request", None)
    if asked is None and request is not None:
        asked = request
    if asked is None:
        return DEFAULT_DEMAND, lambda _: DEFAULT_DEMAND
    if not callable(asked) or isinstance(asked, Resources):
        fixed = _demand(asked)
        return fixed, lambda _: fixed

    def by_config(config: Config) -> Resources:
        return _demand(asked(config))

    return None, by_config


def learns(searcher: Searcher) -> bool:
    """Whether the searcher wants to hear of results; one that is a scheduler hears of them as that."""
    kind = type(searcher)
    hears = kind.on_result is not Searcher.on_result or kind.on_trial_end is not Searcher.on_trial_end
    return hears and not isinstance(searcher, TrialScheduler)


def observers_for(
    experiment: Experiment, parts: Parts, console: Console, followers: Sequence[Observer] = ()
) -> list[Observer]:
    """Who follows the experiment, in the order in which each record reaches them.

    Args:
        followers: See `followers_for`.
    """
    from overtone.observers import file_observers, reconcile

    has_files = not parts.engine.repeats if experiment.files is None else experiment.files
    found: list[Observer] = []
    folder, tensorboard, at_once = parts.folder, parts.has_tensorboard, bool(followers)
    if not has_files:
        pass
    elif parts.past is not None:
        codec = codec_for(parts.space)
        found = reconcile(folder, tensorboard, codec, table=console.table, at_once=at_once)
    else:
        found = file_observers(folder, tensorboard, table=console.table, at_once=at_once)
    found += followers
    if parts.engine.repeats and not has_files and experiment.verbose == 0 and experiment.reporter is None:
        return found  # nobody looks, and there is no table to keep
    return [*found, console]


def part_data(part: Any) -> Any:
    """A scheduler, searcher or stopper as data: its import path and the arguments it was made with."""
    from overtone.journal.header import described

    args, kwargs = getattr(part, "arguments", ((), {}))
    if not args and not kwargs:
        return described(part)
    from inspect import signature

    return described(part, dict(signature(type(part)).bind(*args, **kwargs).arguments))


def header_parts(experiment: Experiment, parts: Parts) -> Mapping[str, Any]:
    """Everything that the experiment was made of, for the journal's header."""
    from overtone.journal.header import described
    from overtone.space import space_to_data

    options = {
        name: described(getattr(experiment, name))
        for name in (
            "num_samples", "max_concurrent", "max_failures", "fail_fast", "time_budget_s", "reuse",
            "log_to_file", "resources", "durability", "grace_s", "raise_on_failed_trial",
            "trial_limits",
        )
    }  # fmt: skip
    policy = experiment.checkpoints
    return {
        "trainable": described(as_bound(experiment.trainable).trainable)
        if callable(experiment.trainable)
        else parts.name,
        "name": parts.name,
        "space": space_to_data(parts.space),
        "metric": list(parts.goal.metrics),
        "mode": list(parts.goal.modes),
        "constraints": dict(zip(parts.goal.constraints, parts.goal.bounds, strict=True)),
        "scheduler": part_data(parts.scheduler),
        "searcher": part_data(parts.searcher),
        "stop": described(experiment.stop),
        "checkpoints": {name: getattr(policy, name) for name in policy.__slots__},
        "options": options,
        "limits": asdict(parts.limits),
        "engine": type(parts.engine).__name__,
        "main": main_script(),
    }


def _named(who: str, part: Any) -> tuple[str, Any, Any]:
    return who, getattr(part, "metric", None), getattr(part, "mode", None)


def _demand(asked: Any) -> Resources:
    return asked if isinstance(asked, Resources) else DEFAULT_DEMAND if asked is None else Resources.of(asked)


def _total(searcher: Searcher, experiment: Experiment) -> int | None:
    """How many trials the search is over after."""
    if searcher.total is not None or type(searcher).__module__.startswith("overtone.searchers."):
        return searcher.total
    return experiment.num_samples if experiment.num_samples >= 0 else None


def _smallest(*given: int | None) -> int | None:
    return min((one for one in given if one), default=None)


def _tagger(space: Any) -> Callable[[int, Config], str]:
    from overtone.space import tag

    return lambda index, config: tag(space, config, index)


def _worth(policy: CheckpointPolicy) -> Callable[[Result], float] | None:
    """A result's worth as a checkpoint, where the user orders them by a metric."""
    name = policy.order
    if name is None:
        return None
    sign = 1.0 if policy.order_mode == "max" else -1.0

    def worth(result: Result) -> float:
        value = lookup(result.metrics, name)
        return sign * value if isinstance(value, (int, float)) and value == value else WORST

    return worth


def _earlier(path: str) -> Any:
    from overtone.analysis import ExperimentAnalysis

    return ExperimentAnalysis(path)


def codec_for(space: Any) -> Codec:
    """Writes and reads configs of `space`, also values that are not data."""
    from overtone.journal.codec import Codec
    from overtone.space import decode_config, encode_config

    return Codec(lambda config: encode_config(space, config), lambda data: decode_config(space, data))


def open_journal(experiment: Experiment, parts: Parts) -> JournalWriter:
    """The experiment's journal, with its header written."""
    from overtone.journal.header import new_header, set_apart
    from overtone.journal.writer import JournalWriter

    header = {**new_header(parts.seed, header_parts(experiment, parts)), "nth": parts.nth}
    if parts.earlier:
        header["earlier"] = list(parts.earlier)  # a resume learns the same, whatever became of the sources
    if parts.engine.repeats:
        header = set_apart(header, parts.folder)
    durability: Any = experiment.durability
    return JournalWriter(parts.folder / "journal.jsonl", header, durability, codec_for(parts.space))


def reopened(folder: Path, experiment: Experiment, space: Any) -> JournalWriter:
    """The journal of an experiment that is gone on with; nobody else writes it from now on."""
    from overtone.journal.writer import JournalWriter

    durability: Any = experiment.durability
    return JournalWriter.reopen(folder / "journal.jsonl", durability, codec_for(space))
