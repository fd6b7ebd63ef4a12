"""The seam between a trainer and a framework: how the framework's ranks find each other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang


class BackendConfig:
    """Setup of a framework around a training loop. This class adds nothing: ranks have torchrun's variables.

    A trainer pickles its config into the ranks, so that a config holds settings alone.

    Attributes:
        timeout_s: Longest time that a rank may let the others wait, in seconds.
    """

    timeout_s: float = 1800.0

    def head_context(self, gang: Gang) -> AbstractContextManager[None]:
        """Return the context in which the head runs the loop on all ranks, such as an open rendezvous.

        Entered when all ranks are connected. It tells them of the rendezvous by `gang.update_environment`
        or `gang.call`. It is left when the loop has returned on all ranks, or has failed.
        """
        return nullcontext()

    def rank_context(self) -> AbstractContextManager[None]:
        """Return the context in which each rank runs the loop, such as a member of the process group.

        If the loop raises, the context may not wait for other ranks: they wait for this one.
        """
        return nullcontext()
