"""`RayHost`: spreads the ranks of a head outside of trials over the nodes of this process's cluster.

Each rank is an actor in its own bundle of a placement group. Actors and group belong to the head's
Ray job: Ray ends them when the head ends, even by SIGKILL.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.engines.ray import agents, cluster_connection
from overtone.engines.ray.cluster_view import look
from overtone.engines.ray.driver_place import DriverPlace
from overtone.engines.ray.placement_groups import is_made, make_group, may_be_removed, nodes_of, remove_group
from overtone.worker.gang.host import RankHost
from overtone.worker.gang.places import bundles_of_ranks
from overtone.worker.gang.plan import GangPlan, RankOrder, rank_orders

ROOM_WITHIN_S = 60.0
"""Seconds that a cluster gets to have room for all ranks; an autoscaler may have to add nodes."""

GONE_WITHIN_S = 5.0
LOOK_EVERY_S = 0.01


class RankActor:
    """A rank: an actor whose process does nothing else.

    Args:
        name: Name of the rank in its output.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def run(self, order: RankOrder, place: DriverPlace) -> None:
        """Run the rank to its end."""
        import ray

        from overtone.worker.gang.rank import run_rank

        place.take_over(ray.get_runtime_context().runtime_env)
        run_rank(None, order)


class RayHost(RankHost):
    """Runs ranks on the cluster that this process is connected to.

    Args:
        resources: Bundles of head and ranks, as a trial would ask for. The head's is not reserved: this
            process runs already.
        room_within_s: Maximum seconds to wait until the cluster has room for all ranks.
    """

    def __init__(self, resources: Resources, room_within_s: float = ROOM_WITHIN_S) -> None:
        self._resources, self._room_within_s = resources, room_within_s
        self._newest: _Ranks | None = None

    def start(self, plan: GangPlan) -> None:
        bundles = self._resources.bundles
        own = tuple([bundles[index] for index in bundles_of_ranks(len(bundles), plan.num_workers)])
        self._newest = _Ranks(plan, Resources(own, self._resources.strategy), self._room_within_s)
        self._newest.start()

    def failure(self) -> str:
        return self._newest.failure if self._newest is not None else ""

    def end(self) -> None:
        if self._newest is not None:
            self._newest.end()
            self._newest = None

    def hosts(self) -> list[str]:
        _, home = cluster_connection.driver_node()
        return list(dict.fromkeys([home, *[node.ip for node in look()]]))


class _Ranks:
    """The ranks of one generation, from their request to their end.

    Attributes:
        failure: Why the ranks could not be made, or how one ended; "" while all is well.
    """

    def __init__(self, plan: GangPlan, shape: Resources, room_within_s: float) -> None:
        self.failure = ""
        self._plan, self._shape, self._room_within_s = plan, shape, room_within_s
        self._actors: list[Any] = []
        self._references: list[Any] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="overtone-ranks", daemon=True)

    def start(self) -> None:
        """Reserve the bundles, and start the ranks in them from another thread."""
        n_bundles = len(self._shape.bundles)
        self._group = make_group(self._shape, [{}] * n_bundles)
        self._thread.start()

    def end(self) -> None:
        """Kill the ranks, wait until they are gone, and return their bundles."""
        import ray

        self._is_over.set()
        self._thread.join()
        for actor in self._actors:
            agents.end(actor)
        if self._references and cluster_connection.is_connected():
            ray.wait(self._references, num_returns=len(self._references), timeout=GONE_WITHIN_S)
        if self._group is not None:
            give_up_at = time.monotonic() + GONE_WITHIN_S
            while not may_be_removed(self._group) and time.monotonic() < give_up_at:
                time.sleep(LOOK_EVERY_S)
            remove_group(self._group)

    def _run(self) -> None:
        try:
            if self._has_room():
                self._make()
        except Exception as error:
            self._fail(f"the ranks could not be started: {type(error).__name__}: {error}")

    def _has_room(self) -> bool:
        """Wait until Ray has reserved all bundles; return whether it has."""
        give_up_at = time.monotonic() + self._room_within_s
        while self._group is not None and not is_made(self._group):
            if self._is_over.wait(LOOK_EVERY_S):
                return False
            if time.monotonic() > give_up_at:
                self._fail(
                    f"the cluster had no room for {self._plan.num_workers} ranks of {_shown(self._shape)} "
                    f"within {self._room_within_s:g} s; free now: {_free()}"
                )
                return False
        return not self._is_over.is_set()

    def _make(self) -> None:
        import ray

        shape = self._shape
        nodes = nodes_of(shape, self._group)
        start = Start("", 0, 0, {}, shape, Placement(nodes, ((),) * len(nodes)))
        place = DriverPlace.here()
        for order in rank_orders(start, self._plan):
            name = f"rank {order.place.rank}"
            options = agents.bundle_options(shape, order.place.rank, self._group)
            actor = ray.remote(RankActor).options(**options).remote(name)
            reference = actor.run.remote(order, place)
            self._actors.append(actor)
            self._references.append(reference)
            agents.on_end(reference, partial(self._on_end, name))

    def _on_end(self, name: str, error: str) -> None:
        if error:
            self._fail(f"{name}: {error}")

    def _fail(self, text: str) -> None:
        if not self._is_over.is_set():
            self.failure = self.failure or text


def _shown(shape: Resources) -> str:
    return str(Resources(shape.bundles[:1]))


def _free() -> str:
    found = [
        f"{node.ip}: cpu {node.free.get('cpu', 0):g}, gpu {node.free.get('gpu', 0):g}" for node in look()
    ]
    return "; ".join(found) or "nothing"
