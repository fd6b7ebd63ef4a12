"""What the launcher's tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests.launcher.aws_servers import Aws, aws_server
from tests.launcher.ssh_hosts import Network, network

pytest.importorskip("ray", reason="tests of the launcher need Ray")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of tests that CI leaves out."""
    config.addinivalue_line("markers", "full: left out with CI=true; `make launcher` runs it")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests with the mark `full` where CI=true."""
    if os.environ.get("CI") == "true":
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="CI leaves it out: make launcher"))


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
