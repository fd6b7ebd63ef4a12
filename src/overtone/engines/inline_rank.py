"""The one rank of a gang on the inline engine: a thread of this process, so that `pdb` and `print` work."""

from __future__ import annotations

import os
import threading

from overtone.core.messages import Start
from overtone.errors import ResourceError
from overtone.standard_streams import say
from overtone.worker.gang.plan import GangPlan, RankOrder, rank_orders
from overtone.worker.gang.rank import run_rank

END_WITHIN_S = 10.0
"""Time for the rank's code to end once its head has let it go, in seconds."""


class RankThread:
    """One rank, in a thread. It sees the head's environment variables, which are restored at its end.

    Args:
        start: The Start of the trial.
        plan: What its head asked for.
    """

    def __init__(self, start: Start, plan: GangPlan) -> None:
        self._start, self._plan = start, plan
        self._thread: threading.Thread | None = None
        self._environment = dict(os.environ)

    def start(self) -> str:
        """Start the thread; return why there is none, or ""."""
        if self._plan.num_workers > 1:
            return (
                f"engine='inline' runs one rank, in this process, and {self._plan.num_workers} were asked "
                "for: set num_workers=1, or leave engine out to have each rank run in a process"
            )
        try:
            (order,) = rank_orders(self._start, self._plan)
        except ResourceError as error:
            return str(error)
        self._thread = threading.Thread(target=self._run, args=(order,), name="overtone-rank-0", daemon=True)
        self._thread.start()
        return ""

    def _run(self, order: RankOrder) -> None:
        try:
            run_rank(None, order, is_thread=True)
        except Exception as error:
            say(f"rank 0 ended: {type(error).__name__}: {error}")

    def end(self) -> None:
        """Wait for the end of the thread, whose head has closed the connection."""
        if self._thread is None:
            return
        self._thread.join(END_WITHIN_S)
        if self._thread.is_alive():
            say("the code of rank 0 does not end, and goes on in a thread of this process")
        os.environ.clear()
        os.environ.update(self._environment)
