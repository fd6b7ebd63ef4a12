"""Runs a trial that is a function, in any of the supported forms."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from typing import Any

from overtone.errors import TrainableError
from overtone.worker.session.metrics import is_number
from overtone.worker.session.session import Session

FORMS = """\
    def train(config): ...                       # and tune.report({...}) in it, or return/yield {...}
    def train(config, checkpoint_dir=None): ...  # the directory to go on from
    def train(config, reporter): ...             # reporter(accuracy=0.9)
    def train(tune): ...                         # tune.params["lr"], tune.report(...)
    def train(): ...                             # tune.params["lr"] and tune.report(...) of the module
    class Train(tune.Trainable): ...             # setup(self, config) and step(self)"""


def run_function(function: Callable[..., Any], session: Session, parameters: Mapping[str, Any]) -> None:
    """Call `function` by its signature, and report the values that it yields and returns.

    Raises:
        TrainableError: Its signature is not supported.
    """
    positional, keywords = arguments(function, session, parameters)
    returned = function(*positional, **keywords)
    if inspect.iscoroutine(returned):
        returned.close()
        raise TrainableError(f"{shown(function)} is async: call asyncio.run(...) in a plain function instead")
    if isinstance(returned, Generator):
        returned = _run_generator(returned, session)
    if isinstance(returned, Mapping) or is_number(returned):
        session.report(returned)
    elif returned is not None and session.n_reported == 0:
        raise TrainableError(
            f"{shown(function)} returned {type(returned).__name__} {returned!r:.100} and reported nothing: "
            "return a dict of metrics or a number, or call tune.report({...})"
        )


def arguments(
    function: Callable[..., Any], session: Session, parameters: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and keyword arguments for `function`.

    Raises:
        TrainableError: A required argument is unknown.
    """
    try:
        signature = _signature(function)
    except (TypeError, ValueError):  # written in C: its signature is unknown
        return [session.params], dict(parameters)
    known = {"tune": session, "reporter": session.report, "rprtr": session.report}
    known |= {"checkpoint_dir": session.checkpoint, "checkpoint": session.checkpoint}
    positional: list[Any] = []
    keywords = dict(parameters)
    needs_config = True
    for place, (name, one) in enumerate(signature.parameters.items()):
        is_rest = one.kind is one.VAR_POSITIONAL and place != len(positional)
        if name in parameters or one.kind is one.VAR_KEYWORD or is_rest:
            continue
        if name in known:
            value = known[name]
            if value is None and one.default is not one.empty:  # no checkpoint: its own default counts
                continue
        elif name == "config" or (needs_config and one.kind is not one.KEYWORD_ONLY):
            value = session.params
        elif one.default is one.empty and one.kind is not one.VAR_POSITIONAL:
            raise TrainableError(_wrong(function, signature, name))
        else:
            continue
        needs_config = False
        # by position if possible: a decorated function may use another argument name
        if place == len(positional) and one.kind is not one.KEYWORD_ONLY:
            positional.append(value)
        else:
            keywords[name] = value
    takes_any = any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    unknown = [name for name in parameters if name not in signature.parameters]
    if unknown and not takes_any:
        raise TrainableError(
            f"{shown(function)}{signature} has no argument {unknown[0]!r}, which tune.with_parameters gives "
            f"it: write def {shown(function)}(config, {', '.join(parameters)})"
        )
    return positional, keywords


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function; the last one is cached, since trials share a function."""
    global _last
    if _last is None or _last[0] is not function:
        _last = function, inspect.signature(function)
    return _last[1]


_last: tuple[Callable[..., Any], inspect.Signature] | None = None


def shown(function: Any) -> str:
    """Return the name of `function` for a message."""
    return str(getattr(function, "__name__", None) or repr(function))


def _run_generator(generator: Generator[Any, None, Any], session: Session) -> Any:
    """Report each yielded value; return the generator's return value."""
    while True:
        try:
            value = next(generator)
        except StopIteration as end:
            return end.value
        try:
            session.report(value)
        except BaseException:
            generator.close()
            raise


def _wrong(function: Any, signature: inspect.Signature, name: str) -> str:
    return (
        f"{shown(function)}{signature} cannot be called: nothing is known for its argument {name!r}; "
        f"give it with tune.with_parameters(train, {name}=...), or a default\n"
        f"A trainable is one of these:\n{FORMS}"
    )
