"""One search of a comparison, and its rows of the frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overtone.research.choices import engine_of, scheduler_of, searcher_of
from overtone.research.problem import Problem
from overtone.research.trace import AtTarget, Trace

Row = dict[str, Any]

COLUMNS = (
    "problem", "family", "scheduler", "searcher", "workers", "seed", "metric", "mode", "target", "time_s",
    "value", "n_trials", "n_results", "is_end", "cost", "machine_s", "trial_s", "lost_s", "error",
)  # fmt: skip
"""Of the frame that `compare` returns."""


@dataclass(frozen=True, slots=True)
class Setup:
    """All that is compared, by name; pickled once for each process.

    Attributes:
        problems, schedulers, searchers, workers: The choices.
        ends_at_target: Whether a search ends as soon as it has reached its problem's target.
        max_failures: How often a trial is tried again.
        storage: Where searches keep their journals while they run.
    """

    problems: dict[str, Problem]
    schedulers: dict[str, Any]
    searchers: dict[str, Any]
    workers: dict[str, Any]
    ends_at_target: bool
    max_failures: int
    storage: str

    def place(self, case: Case) -> tuple[int, ...]:
        """Return the position of a search in the frame: the order of the given choices."""
        chosen = (
            (self.problems, case.problem),
            (self.schedulers, case.scheduler),
            (self.searchers, case.searcher),
            (self.workers, case.workers),
        )
        return (*(list(names).index(one) for names, one in chosen), case.seed)


@dataclass(frozen=True, slots=True)
class Case:
    """The identity of a search: the names of its choices, and a seed."""

    problem: str
    scheduler: str
    searcher: str
    workers: str
    seed: int


def rows_of(setup: Setup, case: Case) -> list[Row]:
    """Return a row for each better value that the search found, and one for its end.

    An error ends the search and not the comparison: its text is in the last row.
    """
    problem = setup.problems[case.problem]
    trace = Trace(problem.metric, problem.mode)
    engine, error = None, ""
    try:
        engine = engine_of(setup.workers[case.workers])
        _carry_out(setup, case, engine, trace)
        error = trace.trouble()
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    account = engine.account if engine is not None else None
    first = {**_facts(problem, case), "is_end": False, "error": ""}
    rows = [
        {
            **first,
            "time_s": one.time_s,
            "value": one.value,
            "n_trials": one.n_trials,
            "n_results": one.n_results,
        }
        for one in trace.steps
    ]  # fmt: skip
    known = account.as_data() if account is not None else {}
    bill = {name: known.get(name, float("nan")) for name in ("cost", "machine_s", "trial_s", "lost_s")}
    end = {
        "time_s": trace.time_s,
        "value": trace.steps[-1].value if trace.steps else float("nan"),
        "n_trials": trace.n_trials,
        "n_results": trace.n_results,
    }
    return [*rows, {**first, **end, **bill, "is_end": True, "error": error}]


def failed(setup: Setup, case: Case, error: str) -> list[Row]:
    """Return the rows of a search of which nothing is known but how it failed."""
    facts = _facts(setup.problems[case.problem], case)
    nothing = {"time_s": 0.0, "value": float("nan"), "n_trials": 0, "n_results": 0}
    return [{**facts, **nothing, "is_end": True, "error": error}]


def _carry_out(setup: Setup, case: Case, engine: Any, trace: Trace) -> None:
    from shutil import rmtree
    from tempfile import mkdtemp

    from overtone.experiment import CheckpointPolicy, Experiment
    from overtone.run import Run

    problem = setup.problems[case.problem]
    storage = mkdtemp(dir=setup.storage)
    stop = None
    if setup.ends_at_target and problem.target is not None:
        stop = AtTarget(problem.target, problem.mode)
    try:
        run = Run(
            Experiment(
                problem.trainable,
                dict(problem.space),
                name="search",
                storage=Path(storage),
                num_samples=problem.num_samples,
                metric=problem.metric,
                mode=problem.mode,
                scheduler=scheduler_of(setup.schedulers[case.scheduler], problem),
                searcher=searcher_of(setup.searchers[case.searcher], problem),
                stop=stop,
                max_failures=setup.max_failures,
                checkpoints=CheckpointPolicy(every=problem.checkpoint_freq),
                time_budget_s=problem.budget_s,
                callbacks=[trace],
                verbose=0,
                seed=case.seed,
                engine=engine,
                raise_on_failed_trial=False,
                tensorboard=False,
                files=False,
            )
        )
        run.carry_out()
    finally:
        rmtree(storage, ignore_errors=True)


def _facts(problem: Problem, case: Case) -> Row:
    target = float("nan") if problem.target is None else problem.target
    return {
        "problem": case.problem, "family": problem.family, "scheduler": case.scheduler,
        "searcher": case.searcher, "workers": case.workers, "seed": case.seed,
        "metric": problem.metric, "mode": problem.mode, "target": target,
    }  # fmt: skip
