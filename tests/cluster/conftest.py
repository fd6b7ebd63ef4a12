"""A Ray cluster of several nodes on this machine, where nodes come and are killed."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.core.protocols import Observer

pytest.importorskip("ray", reason="tests of the cluster engine need Ray")

MEMORY = 80_000_000
QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}
"""A node that was killed is given up after two seconds, not after fifteen."""


class Seen(Observer):
    """Keeps what happened, and lets a test wait for it."""

    def __init__(self) -> None:
        self.records: list[m.Record] = []
        self._news = threading.Condition()

    def on_record(self, record: m.Record) -> None:
        with self._news:
            self.records.append(record)
            self._news.notify_all()

    @property
    def events(self) -> list[Any]:
        return [record.event for record in self.records]

    def wait(self, is_there: Callable[[list[Any]], Any], within_s: float = 60.0) -> Any:
        """What `is_there` finds in the events, as soon as it finds anything."""
        with self._news:
            if not self._news.wait_for(lambda: is_there(self.events), within_s):
                raise TimeoutError(f"not in {within_s:g} s; the last events: {self.events[-5:]}")
            return is_there(self.events)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if type(event) is kind]


class Nodes:
    """The cluster, as tests change it."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.added: list[Any] = []

    def add(self, **options: Any) -> Any:
        """One more node."""
        node = self.cluster.add_node(wait=False, object_store_memory=MEMORY, **options)
        self.added.append(node)
        return node

    def wait(self) -> None:
        """Until all nodes are there."""
        self.cluster.wait_for_nodes()

    def kill(self, node: Any) -> None:
        """Kill all processes of a node at once."""
        self.added.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)

    def kill_all(self) -> None:
        for node in list(self.added):
            self.kill(node)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "object_store_memory": MEMORY,
            "include_dashboard": False,
            "_system_config": QUICK,
        },
    )
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    ray.shutdown()
    made.shutdown()
    shutil.rmtree(session, ignore_errors=True)


@pytest.fixture
def nodes(cluster: Any) -> Iterator[Nodes]:
    made = Nodes(cluster)
    yield made
    made.kill_all()
    deadline = time.monotonic() + 30
    import ray

    while sum(one["Alive"] for one in ray.nodes()) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def engine() -> Callable[..., Any]:
    def make(**options: Any) -> Any:
        from overtone.engines.local.on_node import LocalOnNodes
        from overtone.engines.ray import Ray

        return Ray(LocalOnNodes(), **options)

    return make
