"""What the launcher's tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests.launcher.aws_servers import Aws, aws_server
from tests.launcher.ssh_hosts import Network, network

pytest.importorskip("ray", reason="tests of the launcher need Ray")

LONGEST = (
    "test_submit.py", "test_slurm.py", "test_local_failures.py", "test_autoscaling.py", "test_watchdog.py", "test_local.py",
)  # fmt: skip
"""Files that take minutes. They run first, so that no process waits at the end for the other's last file."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first."""
    place = {name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="class")
def close_what_ray_left_open() -> Iterator[None]:
    """Have files that Ray's launcher leaves open closed here: later, another test would have the warning."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def three_hosts() -> Iterator[Network]:
    """A client and three hosts with sshd, which the tests of a module share."""
    with network(3) as made:
        yield made


@pytest.fixture(scope="session")
def aws_of_all() -> Iterator[Aws]:
    """A fake AWS for all tests of this process: Ray keeps its clients, with their address."""
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    with aws_server() as made:
        yield made
