"""The states of users' callbacks, in a file of the experiment's folder for a resume."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.errors import CallbackError
from overtone.observers.callbacks.callback import defines
from overtone.regular_files import read_regular, replace_file
from overtone.run.resume.state_codec import NotData, NotTheSame, frozen, thaw
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderMark

NAME = "callback_states.json"
EVERY_S = 10.0
SHARE = 0.05
"""Largest share of a run's time that the states take."""


class CallbackStates(Observer):
    """Observer that writes the states of callbacks every `EVERY_S` seconds or less often, and at the end.

    A state that is not data is left out with one warning.

    Args:
        folder: The experiment's.
        callbacks: The callbacks of the run, in their order.
        clock: Seconds from any origin.
    """

    follows_results, ends_run = False, True

    def __init__(
        self,
        folder: str | os.PathLike[str],
        callbacks: Sequence[Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._mark = FolderMark.of(folder)
        self._callbacks = {i: one for i, one in enumerate(callbacks) if defines(one, "get_state")}
        self._clock = clock
        self._due_at = clock() + EVERY_S
        self._written = b""

    def __bool__(self) -> bool:
        """Return whether a callback has a state."""
        return bool(self._callbacks)

    def restore(self) -> None:
        """Give each callback the state that an earlier driver wrote.

        Raises:
            CallbackError: A callback raised.
        """
        try:
            states = read_states(os.path.join(self._mark.folder, NAME))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            say(f"the states of callbacks are lost: {error}")
            return
        self._written = _text({i: as_data(state) for i, state in states.items()})
        for i, callback in self._callbacks.items():
            if states.get(i):
                _called(callback, "set_state", states[i])

    def on_record(self, record: Record) -> None:
        """Do nothing: states are read between batches of records."""

    def flush(self) -> None:
        """Write the states if it is time.

        Raises:
            CallbackError: A callback raised.
        """
        if (now := self._clock()) < self._due_at:
            return
        self._write()
        self._due_at = now + max(EVERY_S, (self._clock() - now) / SHARE)

    def close(self) -> None:
        """Write the states.

        Raises:
            CallbackError: A callback raised.
        """
        self._write()

    def _write(self) -> None:
        states: dict[int, Any] = {}
        for i, callback in list(self._callbacks.items()):
            try:
                states[i] = as_data(_called(callback, "get_state"))
            except NotData as error:
                del self._callbacks[i]
                say(f"the state of {type(callback).__name__} is not kept for a resume: {error}")
        data = _text(states)
        if data == self._written or not (self._written or any(states.values())):
            return
        try:
            self._mark.check()
            replace_file(os.path.join(self._mark.folder, NAME), data)
            self._written = data
        except OSError as error:  # Another try follows; the last one is the one at the end.
            say(f"the states of callbacks cannot be written: {error}")


def as_data(state: Any) -> Any:
    """Return a state as data for JSON.

    Raises:
        NotData: It has more than numbers, texts, lists, tuples, sets and dicts.
    """
    data = frozen({"state": state})
    try:
        _state(json.loads(json.dumps(data)))
    except (NotTheSame, ValueError) as error:  # such as an int of more digits than are read
        raise NotData(f"get_state() returned a value that is not data ({error})") from error
    return data if state else None


def write_states(path: str, states: Mapping[int, Any]) -> None:
    """Write the states of callbacks, by their place.

    Raises:
        NotData: A state has more than numbers, texts, lists, tuples, sets and dicts.
        OSError: The file cannot be written.
    """
    replace_file(path, _text({i: as_data(state) for i, state in states.items()}))


def read_states(path: str) -> dict[int, Any]:
    """Return the states in a file of `write_states`. Nothing of it is executed.

    Raises:
        OSError: It cannot be read; FileNotFoundError if it is missing.
        ValueError: It is damaged.
    """
    try:
        found = json.loads(read_regular(path))
        return {int(i): _state(data) for i, data in found.items() if data is not None}
    except (AttributeError, KeyError, TypeError, NotTheSame, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _text(states: Mapping[int, Any]) -> bytes:
    return json.dumps({str(i): data for i, data in states.items()}, separators=(",", ":")).encode()


def _state(data: Any) -> Any:
    root: dict[str, Any] = {}
    thaw(data, root)
    return root["state"]


def _called(callback: Any, method: str, *arguments: Any) -> Any:
    try:
        return getattr(callback, method)(*arguments)
    except Exception as error:
        what = f"{type(callback).__name__}.{method} raised {type(error).__name__}: {error}"
        raise CallbackError(what) from error
