"""The workers of a trainer as the ranks of a gang: each is a process in a bundle of its own."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from overtone.core.resources import Resources
from overtone.errors import GangError
from overtone.train.hosts import host_for
from overtone.train.torch.config import TorchConfig
from overtone.train.torch.operators.operator_runner import OperatorRunner, OperatorSettings
from overtone.train.torch.operators.workers import Workers
from overtone.worker.gang.gang import Gang
from overtone.worker.session.current import current, is_inside

_RUNNER, _CONTEXT = "operator runner", "operator context"
"""The keys of a rank's objects between two calls."""


class GangWorkers(Workers):
    """The ranks of a gang.

    Raises:
        GangError: The ranks could not be made, or an operator's `setup` raised.
        ResourceError: There is not enough room for the ranks.
    """

    def __init__(self, settings: OperatorSettings, resources: Resources, torch_config: TorchConfig) -> None:
        self._settings, self._config = settings, torch_config
        self.can_restart = not is_inside()
        self._open = ExitStack()
        self._gang = Gang(host_for(resources), len(resources.bundles) - 1, timeout_s=torch_config.timeout_s)
        try:
            self._gang.start()
            self._begin()
        except BaseException:
            self.shutdown(force=True)
            raise

    def call(self, method: str, *args: Any) -> list[Any]:
        return self._gang.call(_call, method, *args)

    def call_first(self, method: str, *args: Any) -> Any:
        return self._gang.call_rank(0, _call, method, *args)

    def apply(self, function: Any) -> list[Any]:
        return self._gang.call(function)

    def restart(self) -> None:
        self._open.close()
        self._gang.restart()
        self._begin()

    def shutdown(self, force: bool) -> None:
        if not force:
            try:
                self._gang.call(_end)
            except GangError:
                force = True
        self._gang.shutdown(force=force)
        self._open.close()

    def _begin(self) -> None:
        self._open.enter_context(self._config.head_context(self._gang))
        self._gang.call(_begin, self._settings, self._config)


def _begin(settings: OperatorSettings, config: TorchConfig) -> None:
    """Join the process group and make the operator, in a rank."""
    from overtone.worker.gang.rank import rank_state

    context = config.rank_context()
    context.__enter__()
    rank_state[_CONTEXT] = context
    place = current()
    rank_state[_RUNNER] = OperatorRunner(
        settings, place.get_world_rank(), place.get_world_size(), place.get_local_rank()
    )


def _call(method: str, *args: Any) -> Any:
    """Call a method of the runner, in a rank."""
    from overtone.worker.gang.rank import rank_state

    return getattr(rank_state[_RUNNER], method)(*args)


def _end() -> None:
    """Drop the operator and leave the process group, in a rank."""
    from overtone.worker.gang.rank import rank_state

    rank_state.pop(_RUNNER, None)
    if (context := rank_state.pop(_CONTEXT, None)) is not None:
        context.__exit__(None, None, None)
