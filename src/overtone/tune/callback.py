"""Callbacks by the names that users import: the base class, and several as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from overtone.errors import TuneError
from overtone.observers.callbacks.callback import HOOKS, Callback, LoggerCallback

__all__ = ["Callback", "CallbackList", "LoggerCallback"]


class CallbackList(Callback):
    """Several callbacks as one: each hook calls that of each callback, in their order.

    Args:
        callbacks: The callbacks.
    """

    IS_CALLBACK_CONTAINER = True
    CKPT_FILE_TMPL = "callback-states-{}.json"

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self._callbacks = list(callbacks)

    def __iter__(self) -> Iterator[Callback]:
        return iter(self._callbacks)

    def __len__(self) -> int:
        return len(self._callbacks)

    def __getitem__(self, i: int) -> Callback:
        return self._callbacks[i]

    def get_state(self) -> dict[Any, Any] | None:
        """Return the states of the callbacks by their place; None if none of them has a state."""
        states = {i: one.get_state() for i, one in enumerate(self._callbacks)}
        return states if any(states.values()) else None

    def set_state(self, state: dict[Any, Any]) -> None:
        """Restore a state of `get_state`."""
        for i, one in enumerate(self._callbacks):
            if state.get(i):
                one.set_state(state[i])

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Write the states of the callbacks to a file of this folder, if there are any.

        Raises:
            OSError: It cannot be written.
        """
        from overtone.run.resume.callback_states import write_states

        if states := self.get_state():
            write_states(str(Path(checkpoint_dir, self.CKPT_FILE_TMPL.format(session_str))), states)

    def restore_from_dir(self, checkpoint_dir: str) -> None:
        """Restore the newest states that `save_to_dir` wrote.

        Raises:
            NoStatesError: There are none.
        """
        from overtone.run.resume.callback_states import read_states

        found = sorted(self._files(checkpoint_dir), key=lambda file: file.stat().st_mtime)
        if not found:
            raise NoStatesError(f"{checkpoint_dir} has no states of callbacks: nothing was saved there")
        self.set_state(read_states(str(found[-1])))

    def can_restore(self, checkpoint_dir: str) -> bool:
        """Return whether `save_to_dir` wrote to this folder."""
        return bool(self._files(checkpoint_dir))

    def _files(self, folder: str) -> list[Path]:
        return list(Path(folder).glob(self.CKPT_FILE_TMPL.format("*")))


class NoStatesError(TuneError, RuntimeError):
    """A folder has no states of callbacks."""


def _to_all(hook: str) -> Callable[..., None]:
    def call(self: CallbackList, *arguments: Any, **info: Any) -> None:
        for one in self._callbacks:
            getattr(one, hook)(*arguments, **info)

    call.__name__, call.__doc__ = hook, f"Call `{hook}` of each callback."
    return call


for _hook in ("setup", *HOOKS):
    setattr(CallbackList, _hook, _to_all(_hook))
