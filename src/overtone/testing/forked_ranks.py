"""A host of ranks for tests: each rank is a fork of this process."""

from __future__ import annotations

import os
import signal
import traceback
import warnings

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.worker.gang.host import RankHost
from overtone.worker.gang.places import places_on
from overtone.worker.gang.plan import GangPlan, RankOrder
from overtone.worker.gang.rank import run_rank


class ForkedRanks(RankHost):
    """Makes the ranks of a gang as forks of the head.

    Attributes:
        pids: The processes of the newest generation, by rank.
    """

    def __init__(self) -> None:
        self.pids: list[int] = []
        self._failure = ""

    def start(self, plan: GangPlan) -> None:
        """Fork the ranks."""
        self._failure = ""
        start = Start("", 0, 0, {}, Resources(((("CPU", 1.0),),)), Placement(("here",), ((),)), None, 0.0)
        for place in places_on(["here"] * plan.num_workers):
            self.pids.append(_fork(RankOrder(start, place, plan)))

    def failure(self) -> str:
        """Return how a process ended, if one has."""
        for rank, pid in enumerate(self.pids):
            if not self._failure and pid:
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    self.pids[rank] = 0
                    self._failure = f"the process of rank {rank} {_told(status)}"
        return self._failure

    def end(self) -> None:
        """Kill the processes."""
        for pid in filter(None, self.pids):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.pids.clear()

    def hosts(self) -> list[str]:
        """Return one name."""
        return ["here"]


def _fork(order: RankOrder) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns if there are threads
        pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        run_rank(None, order)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _told(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit status {code}"
