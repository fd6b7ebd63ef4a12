"""`tune.start`: a run in the background, with the arguments of `tune.run`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from overtone.errors import TrainableError
from overtone.tune.tune import run

if TYPE_CHECKING:
    from overtone.run import Run

P = ParamSpec("P")
R = TypeVar("R")


def _takes_arguments_of(shown: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Return a decorator that shows these arguments to type checkers and `help`."""
    return functools.wraps(shown, assigned=())


@_takes_arguments_of(run)
def start(run_or_experiment: Any, *args: Any, **arguments: Any) -> Run:
    """Start a run in the background: `run.wait(n)`, `run.results_df`, `run.stop()`.

    The arguments are those of `tune.run`, for one experiment.

    Raises:
        TrainableError: Several experiments are given.
        TypeError: An argument is unknown.
    """
    from overtone.run import start as start_run
    from overtone.tune.experiment import is_several, natives

    bound = inspect.signature(run).bind(run_or_experiment, *args, **arguments)
    arguments |= list(bound.arguments.items())[1 : len(args) + 1]  # given by position
    if is_several(run_or_experiment):
        raise TrainableError("tune.start runs one experiment; tune.run takes several")
    return start_run(natives(run_or_experiment, **arguments)[0])
