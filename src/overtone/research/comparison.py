"""A comparison: every scheduler with every searcher on every problem, in processes side by side."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import closing
from itertools import product
from tempfile import TemporaryDirectory
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError
from overtone.research.choices import Choices, check, named
from overtone.research.problem import Problem
from overtone.research.progress import Progress
from overtone.research.search import COLUMNS, Case, Row, Setup, rows_of
from overtone.research.worker_pool import WorkerPool


def compare(
    schedulers: Choices,
    searchers: Choices = ("random",),
    problems: Choices = (),
    workers: Choices | int = 4,
    seeds: Iterable[int] | int = 10,
    *,
    ends_at_target: bool = False,
    max_failures: int = 100,
    processes: int | None = None,
    progress: bool = True,
) -> Any:
    """Run all searches of a comparison and return a frame with their best values over time.

    The frame has a row for each improvement of each search, and one for its end. Searches with the same
    seed on the same problem evaluate the same configurations in the same order, unless their searcher
    uses results. Ctrl-C ends all processes and returns the finished searches.

    Args:
        schedulers: A list, or a mapping by name, of short names, classes, instances, or functions of the
            problem that make one: `{"ASHA": lambda problem: ASHAScheduler(max_t=problem.max_t)}`.
        searchers: Searchers in the same forms; "random" for random search.
        problems: `Problem`s.
        workers: Numbers of workers, `World`s or functions that make an engine, by name.
        seeds: The seeds, or the number of seeds.
        ends_at_target: Whether to end a search when it reaches its problem's target: much quicker if
            only the time to the target matters.
        max_failures: Maximum number of retries of a failed trial; -1 for no limit, which never ends with a
            trainable that always raises.
        processes: Number of processes; None for one per CPU, 0 to search in this process, for a debugger.
        progress: Whether to show the progress on stderr.

    Returns:
        A pandas frame with the columns `problem, family, scheduler, searcher, workers, seed, metric,
        mode, target, time_s, value, n_trials, n_results, is_end, cost, machine_s, trial_s,
        lost_s, error`. In the row where `is_end` is true, `value` is the best value of the search,
        the costs are filled in, and `error` is the reason if the search failed. `attrs["is_complete"]` is
        False after Ctrl-C.

    Raises:
        ValueError: There is nothing to compare, two choices have the same name, or a choice is invalid.
        MissingPackageError: pandas, or a package that a searcher needs, is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingPackageError("pandas", "research", "a comparison") from None
    with TemporaryDirectory(prefix="overtone_research_") as storage:
        setup = Setup(
            named("problems", problems),
            named("schedulers", schedulers),
            named("searchers", searchers),
            named("workers", workers),
            ends_at_target,
            max_failures,
            storage,
        )
        for name, one in setup.problems.items():
            if not isinstance(one, Problem):
                raise ArgumentError(
                    f"problems: {name} is {one!r:.100}: give Problem(trainable, metric, mode), or "
                    "Problem.of_table(table, metric, mode)"
                )
        check(setup.schedulers, setup.searchers, setup.workers)
        numbers = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
        if not numbers:
            raise ArgumentError("there are no seeds: give at least one")
        if not all(hasattr(one, "__index__") for one in numbers):
            raise ArgumentError(f"seeds={seeds!r:.100}: give how many, or a list of whole numbers")
        if processes is not None and processes < 0:
            raise ArgumentError(
                f"processes={processes}: give a number, 0 for this process, or None for one a CPU"
            )
        # the seeds outermost: after Ctrl-C every choice has about as many searches
        cases = [
            Case(problem, scheduler, searcher, worker, seed)
            for seed, problem, scheduler, searcher, worker in product(
                numbers, setup.problems, setup.schedulers, setup.searchers, setup.workers
            )
        ]
        found: dict[int, list[Row]] = {}
        is_complete = True
        with Progress(len(cases), progress) as shown:
            try:
                with closing(_carried_out(setup, cases, processes)) as results:
                    for n, rows in results:
                        found[n] = rows
                        shown.done(bool(rows[-1]["error"]))
            except KeyboardInterrupt:
                if not found:
                    raise
                is_complete = False
    if not is_complete:
        sys.stderr.write(f"overtone: interrupted: {len(found)} of {len(cases)} searches are in the frame\n")
    order = sorted(found, key=lambda n: setup.place(cases[n]))
    frame = pd.DataFrame([row for n in order for row in found[n]], columns=list(COLUMNS))
    frame.attrs["is_complete"] = is_complete
    return frame


def _carried_out(
    setup: Setup, cases: list[Case], processes: int | None
) -> Generator[tuple[int, list[Row]], None, None]:
    if processes == 0:
        yield from ((n, rows_of(setup, case)) for n, case in enumerate(cases))
        return
    with closing(WorkerPool(setup, cases, processes or _cpus())) as crew:
        yield from crew.results()


def _cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
