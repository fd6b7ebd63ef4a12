"""`LocalHost`: the ranks of a head outside of trials are processes of this machine.

They are forked from a server of their own, which has imported what the head had imported of the large
libraries. The server stays until the head ends, so that a second gang starts at once. A guard ends all
with the head, also if the head is killed.

A process may have several gangs at once. One ledger counts the CPUs and GPUs of all of them.
"""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from overtone.core.job import Job
from overtone.core.ledger import Ledger
from overtone.core.messages import Ended, Start
from overtone.core.resources import Placement, Resources
from overtone.engines.local.capacity import Capacity
from overtone.engines.local.on_node import LocalOnNodes
from overtone.engines.prints import write_output
from overtone.errors import ResourceError
from overtone.worker import gpus as gpu_ids
from overtone.worker.gang.host import RankHost
from overtone.worker.gang.places import bundles_of_ranks
from overtone.worker.gang.plan import GangPlan, RankOrder, rank_orders
from overtone.worker.gang.rank import run_rank
from overtone.worker.message_codec import Message

NODE = "localhost"
NAME = "training"
CLOSE_WITHIN_S = 6.0

COUNTED = ("cpu", "gpu", "memory")
"""Resources that are counted: of others this machine has as much as is asked for."""

PRELOADED = ("torch", "lightning", "pytorch_lightning", "accelerate", "transformers", "xgboost", "lightgbm")
"""Libraries that take long to import: the server imports those that the head has imported."""


class LocalHost(RankHost):
    """Runs ranks on this machine.

    Args:
        resources: Bundles of head and ranks, as a trial would ask for. The head's is not counted: this
            process runs already.
        cpus: CPUs for ranks; by default those that this process may use.
        gpus: GPUs for ranks; by default the GPUs that pynvml finds and CUDA_VISIBLE_DEVICES shows.
    """

    def __init__(self, resources: Resources, cpus: float | None = None, gpus: int | None = None) -> None:
        self._resources, self._cpus, self._gpus = resources, cpus, gpus
        self._ranks: _Ranks | None = None

    def start(self, plan: GangPlan) -> None:
        """Ask for the processes of all ranks, and return at once.

        Raises:
            ResourceError: There are too few bundles, or this machine has less than they ask for.
        """
        bundles = self._resources.bundles
        own = Resources(tuple(bundles[index] for index in bundles_of_ranks(len(bundles), plan.num_workers)))
        capacity = Capacity(self._cpus, self._gpus, None, None)
        _end_abandoned()
        name = f"gang{next(_numbers)}"
        placement = _placed(name, own, capacity)

        def devices(bundle: int) -> tuple[tuple[str, str], ...]:
            alone = Placement((NODE,), (placement.gpus[bundle],))
            return ((gpu_ids.VARIABLE, gpu_ids.visible_to(alone, capacity.gpu_ids)),)

        try:
            start = Start(name, plan.generation, 0, {}, own, placement, name=NAME)
            self._ranks = _newest_processes().begin(self, rank_orders(start, plan, devices))
        except BaseException:
            _release(name)
            raise

    def failure(self) -> str:
        return "" if self._ranks is None else self._ranks.failure

    def end(self) -> None:
        if self._ranks is not None:
            self._ranks.end()
            self._ranks = None

    def hosts(self) -> list[str]:
        return [NODE]


_numbers = itertools.count()
_ledger = Ledger()
_ledger_lock = threading.Lock()  # several threads may drive a gang each


def _placed(name: str, resources: Resources, capacity: Capacity) -> Placement:
    """Return the placement of the ranks' bundles on this machine; other gangs of this process keep theirs.

    Raises:
        ResourceError: They do not fit.
    """
    counted = Resources(tuple(tuple(item for item in one if item[0] in COUNTED) for one in resources.bundles))
    with _ledger_lock:
        _ledger.set_capacity({NODE: capacity.amounts()})
        placement = _ledger.place(name, counted)
        is_feasible = placement is not None or _ledger.is_feasible(counted)
    if placement is None:
        others = " of which other trainers of this process use a part: call their shutdown(), or"
        raise ResourceError(
            f"the workers need {resources}, and this machine has {capacity}{others if is_feasible else ':'} "
            "ask for fewer (num_workers=2), "
            'for less (num_cpus_per_worker=0.5, or ScalingConfig(resources_per_worker={"CPU": 0.5})), or for '
            "no GPU (use_gpu=False)"
        )
    return placement


def _release(name: str) -> None:
    with _ledger_lock:
        _ledger.release(name)


class _Ranks:
    """The ranks of one generation of a gang, from their request to their end.

    Attributes:
        owner: Returns the host that asked for them; None if it was dropped.
        failure: How a rank ended, or why the ranks could not be made; "" while all is well.
    """

    def __init__(self, processes: _Processes, owner: LocalHost, start: Start) -> None:
        self.owner = weakref.ref(owner)
        self.failure = ""
        self._processes, self._start = processes, start
        self._gone = threading.Event()

    def note_end(self, failure: str) -> None:
        """Note that all ranks are gone."""
        self.failure = self.failure or failure
        self._gone.set()

    def end(self) -> None:
        """Kill the ranks, and return when they are gone."""
        start = self._start
        self._processes.end(start)
        self._gone.wait()
        self._processes.forget(start.trial_id)
        _release(start.trial_id)


class _Processes:
    """The engine that makes the ranks of this process, in a thread of its own."""

    def __init__(self) -> None:
        self._origin = _origin()
        self.gangs: dict[str, _Ranks] = {}
        self._calls: deque[Callable[[], None]] = deque()
        self._is_closed = False
        preload = [name for name in PRELOADED if name in sys.modules]
        preload += sorted(name for name in sys.modules if name.startswith("overtone.train"))
        nodes, job = LocalOnNodes(), Job(run_rank, NAME, Path(os.curdir))
        self._engine = nodes.open(nodes.pack(job, preload), job)
        self._engine.on_ranks = self._on_ranks
        self._engine.on_lines = _show
        self._thread = threading.Thread(target=self._run, name="overtone-ranks", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def is_usable(self) -> bool:
        """Whether its server has the environment that this process has now."""
        return self._thread.is_alive() and self._origin == _origin()

    def begin(self, owner: LocalHost, orders: Sequence[RankOrder]) -> _Ranks:
        """Start ranks."""
        start = orders[0].start
        ranks = self.gangs[start.trial_id] = _Ranks(self, owner, start)
        self._call(lambda: self._engine.start_ranks(list(orders), has_head=False))
        return ranks

    def end(self, start: Start) -> None:
        """Kill the ranks of a gang; `note_end` follows."""
        self._call(lambda: self._engine.end_ranks(start.trial_id, start.attempt, start.attempt))

    def forget(self, name: str) -> None:
        """Forget a gang that has ended; an engine with an old environment ends with its last gang."""
        self.gangs.pop(name, None)
        if not self.gangs and self is not _newest:
            _outdated.discard(self)
            self.close()

    def close(self) -> None:
        """End all processes."""
        atexit.unregister(self.close)
        if os.getpid() == self._origin[0] and self._thread.is_alive():
            self._is_closed = True
            self._engine.wake()
            self._thread.join(CLOSE_WITHIN_S)

    def _call(self, call: Callable[[], None]) -> None:
        """Let the thread make a call to the engine."""
        self._calls.append(call)
        self._engine.wake()
        if not self._thread.is_alive():
            self._note_all_ended()

    def _run(self) -> None:
        try:
            while not self._is_closed:
                while self._calls:
                    self._calls.popleft()()
                for event in self._engine.poll(None):
                    if isinstance(event, Ended):
                        self._note_end(event.trial_id, event.error or f"its processes ended ({event.cause})")
        finally:
            self._engine.close()
            self._note_all_ended()

    def _on_ranks(self, message: Message) -> None:
        if message[0] == "ranks_gone":
            self._note_end(message[1], message[4])

    def _note_end(self, name: str, failure: str) -> None:
        ranks = self.gangs.get(name)
        if ranks is not None:
            ranks.note_end(failure)

    def _note_all_ended(self) -> None:
        for ranks in list(self.gangs.values()):
            ranks.note_end("the processes of ranks were ended")


_newest: _Processes | None = None
_outdated: set[_Processes] = set()  # with an earlier environment, and gangs that still run


def _newest_processes() -> _Processes:
    """Return the engine of this process, a new one if its environment has changed since."""
    global _newest
    if _newest is None or not _newest.is_usable:
        before, _newest = _newest, _Processes()
        if before is not None and before.gangs:
            _outdated.add(before)
        elif before is not None:
            before.close()
    return _newest


def _end_abandoned() -> None:
    """End the ranks of hosts that were dropped without `end`."""
    engines = [one for one in (_newest, *_outdated) if one is not None]
    for ranks in [ranks for engine in engines for ranks in engine.gangs.values()]:
        if ranks.owner() is None:
            ranks.end()


def _origin() -> tuple[int, dict[str, str], str, list[str], list[str]]:
    """Return what a server takes over from this process, which comes first, when it starts."""
    return os.getpid(), dict(os.environ), os.getcwd(), list(sys.path), list(sys.argv)


def _show(trial_id: str, name: str, pid: int, stream: str, lines: list[str]) -> None:
    write_output("", stream, "".join(f"({name} pid={pid}) {line}\n" for line in lines))
