"""The compared schedulers, searchers and workers, by name, in all forms that users may give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from overtone.core.protocols import Engine, Searcher, TrialScheduler
from overtone.errors import ArgumentError
from overtone.research.problem import Problem

T = TypeVar("T")

Choices = Mapping[Any, Any] | Iterable[Any]
"""The compared choices: a mapping by name, or a list if each choice has a different name."""


def named(kind: str, given: Any) -> dict[str, Any]:
    """Return each by the name that the frame has for it.

    Args:
        kind: What they are, for errors.
        given: One, several, or several by name.

    Raises:
        ValueError: There is none, or two have the same name, or one has none.
    """
    if isinstance(given, Mapping):
        found = {str(name): one for name, one in given.items()}
    else:
        several = (
            list(given) if isinstance(given, Iterable) and not isinstance(given, (str, type)) else [given]
        )
        found = {}
        for one in several:
            name = name_of(kind, one)
            if name in found:
                raise ArgumentError(
                    f'two {kind} are called {name!r}: name them, {{"{name} a": ..., "{name} b": ...}}'
                )
            found[name] = one
    if not found:
        raise ArgumentError(f"there are no {kind} to compare")
    return found


def name_of(kind: str, one: Any) -> str:
    """Return a choice's own name.

    Raises:
        ValueError: It has none, such as a lambda.
    """
    if isinstance(one, (str, int)):
        return str(one)
    if isinstance(one, Problem):
        return one.name
    if one is None:
        return "random" if kind == "searchers" else "fifo"
    name = getattr(one, "__name__", type(one).__name__)
    if name.startswith("<"):
        raise ArgumentError(f'a function without a name is among the {kind}: give {{"its name": lambda ...}}')
    return str(name)


def check(schedulers: Mapping[str, Any], searchers: Mapping[str, Any], workers: Mapping[str, Any]) -> None:
    """Check that all named choices exist, before the first search; functions are called in each search.

    Raises:
        ValueError: A named scheduler, searcher or engine does not exist.
        MissingPackageError: A package that a searcher needs is not installed.
    """
    from overtone.named import create_scheduler, create_searcher

    for choice in schedulers.values():
        if isinstance(choice, str):
            create_scheduler(choice)
    for choice in searchers.values():
        if isinstance(choice, str) and choice != "random":
            create_searcher(choice)
    for choice in workers.values():
        if not callable(choice):
            engine_of(choice)


def scheduler_of(choice: Any, problem: Problem) -> Any:
    """Return a fresh scheduler: of a name, a class, or a function of the problem; an instance as it is."""
    if isinstance(choice, str):
        from overtone.named import create_scheduler

        return create_scheduler(choice)
    from overtone.schedulers.adapter import known_form

    return known_form(_made(known_form(choice), problem, TrialScheduler))


def searcher_of(choice: Any, problem: Problem) -> Any:
    """Return a fresh searcher, in the same forms; None for random search."""
    if choice is None or choice == "random":
        return None
    if isinstance(choice, str):
        from overtone.named import create_searcher

        return create_searcher(choice)
    return _made(choice, problem, Searcher)


def engine_of(choice: Any) -> Engine:
    """Return a new engine: with a number of workers, of a `World`, or made by a function.

    Raises:
        ArgumentError: `choice` makes no engine.
    """
    from overtone.engines.simulated import Simulated, World

    if isinstance(choice, World):
        return Simulated(world=choice)
    if isinstance(choice, int) and not isinstance(choice, bool):
        return Simulated(choice)
    made = choice() if callable(choice) else choice
    if not isinstance(made, Engine):
        raise ArgumentError(f"workers={choice!r}: give a number, a World, or a function that makes an engine")
    return made


def _made(choice: Any, problem: Problem, kind: type[T]) -> T | None:
    if choice is None:
        return None
    made = choice() if isinstance(choice, type) else choice
    if not isinstance(made, kind) and callable(made):
        made = made(problem)
    if not isinstance(made, kind):
        raise ArgumentError(
            f"{choice!r} is no {kind.__name__}: give one, its name, its class, or a function of the "
            "problem that makes it"
        )
    return made
