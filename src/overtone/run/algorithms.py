"""Creation of the requested scheduler and searcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from overtone.core.protocols import Engine, Searcher, TrialScheduler, overrides
from overtone.errors import OvertoneError
from overtone.experiment import Experiment
from overtone.run.searcher_host import Answers, Host, InlineHost, ThreadHost
from overtone.worker.trainables.with_parameters import as_bound


def scheduler_for(asked: Any) -> TrialScheduler:
    """Return the scheduler: FIFO for None, an instance of a class, the named one for a string.

    Raises:
        OvertoneError: `asked` is not a scheduler.
        ValueError: No scheduler has this name.
    """
    if asked is None:
        from overtone.schedulers.fifo import FIFOScheduler

        return FIFOScheduler()
    if isinstance(asked, str):
        from overtone.named import create_scheduler

        asked = create_scheduler(asked)
    from overtone.schedulers.adapter import known_form

    known = known_form(asked)
    made = known() if isinstance(known, type) else known
    if not isinstance(made, TrialScheduler):
        raise OvertoneError(
            f"scheduler={asked!r} is not a TrialScheduler: give one of overtone.tune.schedulers, or a "
            "class of yours that derives from overtone.tune.schedulers.TrialScheduler"
        )
    return made


def searcher_for(experiment: Experiment, scheduler: TrialScheduler | None = None) -> tuple[Searcher, Any]:
    """Return the searcher and the space that it searches.

    If no searcher is given, a scheduler that is also a searcher serves as one. A scheduler may extend
    the space.

    Raises:
        OvertoneError: The searcher is not a Searcher, or does not go with the space or the points.
        ValueError: No searcher has this name.
    """
    from overtone.searchers import BasicVariantGenerator, Listed, is_listing
    from overtone.searchers.adapter import known_form
    from overtone.space import Space

    space, searcher = experiment.space, known_form(experiment.searcher)
    own = getattr(as_bound(experiment.trainable).trainable, "default_search_space", None)
    if own is not None and isinstance(space, Mapping) and not space:
        space = own()  # A table defines its own space.
    if scheduler is not None and not is_listing(space) and isinstance(given := space or {}, Mapping):
        completed = scheduler.complete(given, found_at) if callable(scheduler.complete) else given
        if completed is not given:
            constraint = getattr(space, "constraint", None)
            space = Space(completed, constraint) if constraint else completed
    if isinstance(scheduler, Searcher) and (searcher is None or type(searcher) is type(scheduler)):
        searcher = scheduler
    if is_listing(space):
        if searcher is not None:
            raise OvertoneError(
                "config is a list of configurations, so there is nothing for search_alg to choose"
            )
        return Listed(space, num_samples=experiment.num_samples), {}
    if isinstance(searcher, Searcher) and searcher.points_to_evaluate == []:
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
    searcher = searcher() if isinstance(searcher, type) else searcher
    if not isinstance(searcher, Searcher):
        raise OvertoneError(
            f"search_alg={searcher!r} is not a Searcher: give one of overtone.tune.search, "
            "or subclass overtone.tune.search.Searcher"
        )
    if experiment.max_concurrent:
        searcher.set_max_concurrency(experiment.max_concurrent)
    if searcher.num_samples is None:
        searcher = copy(searcher)  # Another run may use it with another size.
        searcher.num_samples = experiment.num_samples
    return searcher, space


def _with_points(searcher: Any, points: Sequence[Mapping[str, Any]]) -> Any:
    """Return a copy of the searcher with the call's `points_to_evaluate`."""
    if not points:
        return searcher
    searcher = copy(searcher)  # Another run may use it.
    searcher.points_to_evaluate = list(points)
    args, kwargs = searcher.arguments
    searcher.arguments = args, {**kwargs, "points_to_evaluate": searcher.points_to_evaluate}
    return searcher


def learns(searcher: Searcher) -> bool:
    """Return whether the searcher observes results; a searcher that is the scheduler gets them as such."""
    hears = overrides(searcher, Searcher.on_result, Searcher.on_trial_end)
    return hears and not isinstance(searcher, TrialScheduler)


def observes_pauses(searcher: Searcher) -> bool:
    """Return whether the searcher observes results and pauses."""
    return learns(searcher) and overrides(searcher, Searcher.on_trial_pause, Searcher.on_trial_unpause)


def host_for(searcher: Searcher, space: Any, engine: Engine, answers: Answers) -> Host:
    """Return the host that runs the searcher, so that trials do not wait for it.

    Args:
        answers: Earlier suggestions that are in no record, by index.
    """
    if not (learns(searcher) and engine.capabilities.isolates):
        return InlineHost(searcher, engine.now, answers)
    if not searcher.is_slow:
        return ThreadHost(searcher, engine.now, engine.wake, answers)
    from overtone.run.searcher_process_host import ProcessHost

    return ProcessHost(searcher, space, engine.now, engine.wake, answers)


def total_of(searcher: Searcher, experiment: Experiment) -> int | None:
    """Return the number of trials after which the search is over; None if unknown."""
    if searcher.total is not None or searcher.counts_samples:
        return searcher.total
    return experiment.num_samples if experiment.num_samples >= 0 else None


def found_at(path: str) -> Any:
    """Return the results of another experiment."""
    from overtone.analysis import ExperimentAnalysis

    return ExperimentAnalysis(path)
