"""The error of a failed trial, rebuilt from its text: an instance of the builtin exception that it was."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from overtone.errors import TrialError

_BUILTINS = (
    ArithmeticError, AssertionError, AttributeError, BlockingIOError, BrokenPipeError, BufferError,
    ChildProcessError, ConnectionAbortedError, ConnectionError, ConnectionRefusedError,
    ConnectionResetError, EOFError, FileExistsError, FileNotFoundError, FloatingPointError, ImportError,
    IndentationError, IndexError, InterruptedError, IsADirectoryError, KeyError, LookupError,
    MemoryError, ModuleNotFoundError, NameError, NotADirectoryError, NotImplementedError, OSError,
    OverflowError, PermissionError, ProcessLookupError, RecursionError, ReferenceError, RuntimeError,
    StopAsyncIteration, StopIteration, SyntaxError, SystemError, TabError, TimeoutError, TypeError,
    UnboundLocalError, UnicodeError, ValueError, ZeroDivisionError,
)  # fmt: skip

BUILTINS = {one.__name__: one for one in _BUILTINS}
"""The builtin exceptions that can be made of one text, by name."""

_NEAREST = {
    "UnicodeDecodeError": "UnicodeError",
    "UnicodeEncodeError": "UnicodeError",
    "UnicodeTranslateError": "UnicodeError",
}


def trial_error(trial_id: str, line: str, traceback: str) -> TrialError:
    """Return the error of a trial. It is made of text alone; nothing that a trial sent is executed.

    Args:
        trial_id: The trial.
        line: One line on the failure, such as "ValueError: too large"; "" if none is recorded.
        traceback: The user's own traceback; "" if the trial did not raise.

    Returns:
        A `TrialError`. If the trial raised one of `BUILTINS`, it is also an instance of that class.
    """
    name, text, is_builtin = _parts(line, traceback)
    message = f"trial {trial_id} failed: {line or 'no reason is on record'}"
    if traceback:
        message = f"{message}\n{traceback}"
    return _made(_NEAREST.get(name, name) if is_builtin else "", message, trial_id, name, text, traceback)


def _made(kind: str, message: str, trial_id: str, type_name: str, text: str, traceback: str) -> TrialError:
    error = _class_of(kind if kind in BUILTINS else "")(message)
    error.trial_id, error.type_name, error.text, error.traceback = trial_id, type_name, text, traceback
    return error


def _parts(line: str, traceback: str) -> tuple[str, str, bool]:
    """Return the name of the exception's type, its text, and whether the type may be a builtin one.

    The name is "" if the trial did not raise.
    """
    if not traceback:
        return "", line, False
    name, colon, first = line.partition(": ")
    # a traceback names the module of each class that is not a builtin one
    at = f"\n{traceback}".rfind(f"\n{name}{colon}{first}")
    if at < 0:
        return name, first, False
    return name, traceback[at:].rstrip()[len(name + colon) :], True  # `line` has its first line alone


@lru_cache(128)
def _class_of(kind: str) -> type[TrialError]:
    """Return the class of errors that are also instances of the builtin class `kind`; "" for none."""
    if not kind:
        return TrialError
    return type(f"TrialError({kind})", (TrialError, BUILTINS[kind]), {"__reduce__": _reduced})


def _reduced(error: TrialError) -> tuple[Any, ...]:
    kind = type(error).__bases__[1].__name__
    return _made, (kind, str(error), error.trial_id, error.type_name, error.text, error.traceback)
