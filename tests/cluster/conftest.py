"""A Ray cluster of several nodes on this machine, where nodes come and are killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
import pytest

from overtone.core import messages as m
from overtone.core.protocols import Observer
from tests.slow_ray import ATTEMPTS, patiently

pytest.importorskip("ray", reason="tests of the cluster engine need Ray")

WITHIN_S = 300.0
"""How long a test waits for what should happen, on the slowest machine; many processes start meanwhile."""

MEMORY = 80_000_000
QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 10_000,
    "health_check_failure_threshold": 2,
}
"""A node that was killed is given up after a second, not after fifteen; one that is slow to answer is not."""

STARTERS = ThreadPoolExecutor(8)
"""The threads that start nodes; a node's processes end with the thread that started them."""

NUMBERS = count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--losses", type=int, default=3, help="so many nodes are lost while many trials run")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Add the state of the cluster to the report of a failed test, before its fixtures end it."""
    report = yield
    if report.when == "call" and report.failed:
        report.sections.append(("state of the cluster", state_of_cluster()))
    return report


def state_of_cluster() -> str:
    """The nodes, what is free on each, and the placement groups, as Ray tells them."""
    import ray

    if not ray.is_initialized():
        return "this process is not connected"
    from ray._private.state import available_resources_per_node
    from ray.util import placement_group_table

    try:
        free = available_resources_per_node()
        nodes = [f"node {one['NodeID']} alive={one['Alive']} {free.get(one['NodeID'])}" for one in ray.nodes()]
        groups = [str(one) for one in placement_group_table().values() if one["state"] != "REMOVED"]
    except Exception as error:
        return f"Ray does not tell: {error}"
    return "\n".join([*nodes, *groups])


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

    def wait(self, is_there: Callable[[list[Any]], Any], within_s: float = WITHIN_S) -> Any:
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
        (node,) = self.add_all(options)
        return node

    def add_all(self, *options: dict[str, Any]) -> list[Any]:
        """More nodes, which start at the same time."""
        with patch("ray._private.utils.set_sigterm_handler"):  # only the main thread may set handlers
            nodes = list(STARTERS.map(self._start, options))
        self.added += nodes
        return nodes

    def _start(self, options: dict[str, Any]) -> Any:
        # Ray looks for free names of sockets, and two nodes may find the same ones at the same time.
        folder = self.cluster.head_node.get_sockets_dir_path()

        def start() -> Any:
            name = f"{folder}/node{next(NUMBERS)}"
            return self.cluster.add_node(
                wait=False, object_store_memory=MEMORY, raylet_socket_name=f"{name}r",
                plasma_store_socket_name=f"{name}s", **options,
            )  # fmt: skip

        return patiently(start)

    def wait(self) -> None:
        """Until all nodes are there."""
        self.cluster.wait_for_nodes(timeout=WITHIN_S)

    def kill(self, node: Any) -> None:
        """Kill all processes of a node at once."""
        self.added.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)

    def end_all(self) -> None:
        """End the nodes that are left: Ray knows at once of a node that ends by itself."""
        for node in self.added:
            self.cluster.remove_node(node)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    head = {
        "num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False, "_system_config": QUICK,
    }  # fmt: skip
    made = patiently(lambda: Cluster(initialize_head=True, head_node_args=dict(head)))
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    ray.shutdown()
    for node in made.list_all_nodes():
        made.remove_node(node, allow_graceful=False)
    shutil.rmtree(session, ignore_errors=True)


@pytest.fixture
def nodes(cluster: Any) -> Iterator[Nodes]:
    """The cluster, for a test that changes it."""
    import ray

    def n_alive() -> int:
        return sum(one["Alive"] for one in ray.nodes())

    before, made = n_alive(), Nodes(cluster)
    yield made
    made.end_all()
    until(lambda: n_alive() == before)


@pytest.fixture(scope="module")
def module_nodes(cluster: Any) -> Iterator[Nodes]:
    """The cluster, for tests of a module that share its nodes."""
    import ray

    made = Nodes(cluster)
    yield made
    made.end_all()
    until(lambda: sum(one["Alive"] for one in ray.nodes()) == 1)


@pytest.fixture(autouse=True)
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stop the searches in the background that a failed test leaves, before its nodes end."""
    from overtone import tune

    begun, start = [], tune.start

    def noted(*given: Any, **options: Any) -> Any:
        begun.append(start(*given, **options))
        return begun[-1]

    monkeypatch.setattr(tune, "start", noted)
    yield
    for run in begun:
        if not run.done:
            run.stop()
            run.wait(timeout_s=60)


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


class Started:
    """A head that is started by hand, with a node, a home and a session folder of its own.

    Attributes:
        address: Of the cluster.
        sessions: The folder above Ray's own files.
        sessions: The folder with Ray's files.
        environment: For its processes and for drivers.
    """

    def __init__(self, home: Path, port: int, options: tuple[str, ...], variables: dict[str, str]) -> None:
        self.address, self._options, self._port = f"127.0.0.1:{port}", options, port
        self.sessions = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))  # sockets need a short path
        mine = {name: value for name, value in os.environ.items() if not (name.startswith("RAY_") and name.isupper())}
        self.environment = {
            **mine, "HOME": str(home), "RAY_TMPDIR": str(self.sessions), "RAY_AUTH_MODE": "disabled",
            "RAY_ADDRESS": self.address, **variables,
        }  # fmt: skip

    def start(self) -> None:
        """Start it, and wait until the node runs; again as often as Ray gives it up."""
        for left in reversed(range(ATTEMPTS)):
            try:
                self._start()
                break
            except subprocess.CalledProcessError:
                self.stop()
                if not left:
                    raise

    def _start(self) -> None:
        head = {name: value for name, value in self.environment.items() if name != "RAY_ADDRESS"}
        quiet = subprocess.DEVNULL  # a pipe would stay open with the processes
        subprocess.run(
            [
                sys.executable, str(Path(__file__).with_name("start_ray.py")), "start", "--head",
                "--node-ip-address=127.0.0.1", f"--port={self._port}", "--object-store-memory=80000000", *self._options,
            ],
            env=head, stdout=quiet, stderr=quiet, timeout=300, check=True,
        )  # fmt: skip

    def processes(self) -> list[psutil.Process]:
        """What runs for it, and drivers that were begun here."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("RAY_TMPDIR") == str(self.sessions):
                    found.append(process)
            except (psutil.Error, OSError):
                pass  # it has ended, or is another user's
        return found

    def head(self) -> psutil.Process:
        """The process that drivers and nodes call."""
        (found,) = [process for process in self.processes() if process.name() == "gcs_server"]
        return found

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            command(*arguments), env=self.environment, capture_output=True, text=True, timeout=300
        )

    def begin(self, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command."""
        with log.open("wb") as said:
            return subprocess.Popen(command(*arguments), env=self.environment, stdout=said, stderr=said)

    def stop(self) -> None:
        """Kill all its processes."""
        while left := self.processes():
            for process in left:
                try:
                    process.kill()
                except psutil.NoSuchProcess:
                    pass
            psutil.wait_procs(left, timeout=10)

    def close(self) -> None:
        """Stop it and delete its files."""
        self.stop()
        shutil.rmtree(self.sessions, ignore_errors=True)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Makes a cluster that is started by hand."""
    made: list[Started] = []

    def make(port: int, *options: str, **variables: str) -> Started:
        made.append(Started(tmp_path, port, options, variables))
        made[-1].start()
        return made[-1]

    yield make
    for one in made:
        one.close()


def command(name: str, *arguments: str) -> list[str]:
    """A command of this Python's environment."""
    return [str(Path(sys.executable).with_name(name)), *arguments]


def until(is_so: Callable[[], Any], within_s: float = WITHIN_S) -> Any:
    """What `is_so` returns, as soon as it is true."""
    deadline = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s"
        time.sleep(0.1)
    return found


@pytest.fixture(name="until")
def given_until() -> Callable[..., Any]:
    return until
