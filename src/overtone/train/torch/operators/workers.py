"""The workers of a trainer, each with an `OperatorRunner`: here, one worker in the trainer's process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from overtone.train.torch.operators.operator_runner import OperatorRunner, OperatorSettings


class Workers(ABC):
    """Calls methods of `OperatorRunner` in each worker.

    Attributes:
        can_restart: Whether workers that died may be started again from here.
    """

    can_restart = False

    @abstractmethod
    def call(self, method: str, *args: Any) -> list[Any]:
        """Call a method in all workers; return the results by rank."""

    @abstractmethod
    def call_first(self, method: str, *args: Any) -> Any:
        """Call a method in the first worker."""

    @abstractmethod
    def apply(self, function: Any) -> list[Any]:
        """Call `function()` in all workers; return the results by rank."""

    @abstractmethod
    def restart(self) -> None:
        """Begin again with new operators."""

    @abstractmethod
    def shutdown(self, force: bool) -> None:
        """End the workers; with `force` without waiting for them."""


class LocalWorker(Workers):
    """One worker in this process."""

    def __init__(self, settings: OperatorSettings) -> None:
        self._settings = settings
        self.runner = OperatorRunner(settings)

    def call(self, method: str, *args: Any) -> list[Any]:
        return [getattr(self.runner, method)(*args)]

    def call_first(self, method: str, *args: Any) -> Any:
        return getattr(self.runner, method)(*args)

    def apply(self, function: Any) -> list[Any]:
        return [function()]

    def restart(self) -> None:
        self.runner = OperatorRunner(self._settings)

    def shutdown(self, force: bool) -> None:
        pass
