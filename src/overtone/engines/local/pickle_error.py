"""Finds the variable that prevents a trainable from being pickled."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from overtone.core.job import Job
from overtone.worker.trainables.with_parameters import as_bound

_DEPTH = 4
_INSIDE = "Make it inside the trainable instead, so that each process has its own."
_FROM_PARTS = "Pass what it is made from, and make it inside the trainable."


def blame(job: Job, error: Exception) -> str:
    """Return which part of `job` cannot be pickled, and the fix; `error` is the pickling error."""
    intro = f"{job.name} cannot be sent to a process of its own"
    for name, value, fix in (*_held(as_bound(job.trainable).trainable), *_passed(job)):
        failure = _failure(value)
        if failure is None:
            continue
        for _ in range(_DEPTH):  # a function that holds on to the culprit is not the culprit
            inner = next((one for one in _held(value) if _failure(one[1]) is not None), None)
            if inner is None:
                break
            name, value, fix = f"{inner[0]} (by way of {name})", inner[1], inner[2]
            failure = _failure(value)
        return f"{intro}: {name}, a {_type_name(value)}, cannot be pickled ({failure}). {fix}"
    return f"{intro}: {type(error).__name__}: {error}"


def _passed(job: Job) -> Iterator[tuple[str, Any, str]]:
    for name, value in {**as_bound(job.trainable).parameters, **job.parameters}.items():
        yield f"the parameter {name!r} of with_parameters", value, _FROM_PARTS
    yield "the trainable", job.trainable, "Give a function or a class that cloudpickle can carry."
    yield "the store", job.store, "Give a store that cloudpickle can carry."


def _held(value: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield (description, object, fix) for each object that `value` refers to."""
    if isinstance(value, functools.partial):
        for index, one in enumerate(value.args):
            yield f"argument {index} of the partial", one, _FROM_PARTS
        for name, one in value.keywords.items():
            yield f"argument {name!r} of the partial", one, _FROM_PARTS
        yield from _held(value.func)
        return
    is_function = hasattr(value, "__code__")
    if not is_function:
        for name, one in getattr(value, "__dict__", {}).items():
            if not name.startswith("__") and not hasattr(one, "__code__"):
                yield f"the attribute {name!r}", one, _INSIDE
    kind = value if isinstance(value, type) else type(value)
    for function in [value] if is_function else list(vars(kind).values()):
        for name, one in _captured(function).items():
            if one is not value:
                yield f"the captured variable {name!r}", one, _INSIDE


def _captured(function: Any) -> Mapping[str, Any]:
    """Return the closure variables and globals that a function uses, by name."""
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    found: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, getattr(function, "__closure__", None) or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            pass  # not assigned yet
    namespace = getattr(function, "__globals__", {})
    found.update({name: namespace[name] for name in code.co_names if name in namespace})
    return found


def _failure(value: Any) -> str | None:
    import cloudpickle

    try:
        cloudpickle.dumps(value, protocol=5)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
