"""Addresses of clusters that cannot be used."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from types import SimpleNamespace

import psutil
import pytest

from overtone.engines.ray.cluster_connection import _advice, _is_starting, check_address
from overtone.errors import OvertoneError


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def test_an_address_where_somebody_listens_is_good(server: socket.socket) -> None:
    check_address(f"127.0.0.1:{server.getsockname()[1]}", 0.0)


@pytest.mark.parametrize("address", [None, "", "auto", "local"])
def test_what_names_no_port_is_left_to_ray(address: str | None) -> None:
    check_address(address, 0.0)


def test_an_address_where_nobody_listens_says_what_to_do(server: socket.socket) -> None:
    address = f"127.0.0.1:{server.getsockname()[1]}"
    server.close()
    with pytest.raises(OvertoneError, match="cannot be used: ConnectionRefusedError") as told:
        check_address(address, 0.0)
    assert f"the Ray cluster at '{address}'" in str(told.value)
    assert 'unset RAY_ADDRESS, or use engine="local"' in str(told.value)


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("ray://head:10001", "Ray Client only passes calls on"),
        ("http://head:8265", "takes jobs, not drivers"),
    ],
)
def test_an_address_for_something_else_says_what_runs_scripts(address: str, what: str) -> None:
    with pytest.raises(OvertoneError, match=f"{what}.*ray job submit"):
        check_address(address, 0.0)


def test_another_version_than_that_of_the_nodes_is_no_reason_to_start_a_cluster() -> None:
    told = _advice(RuntimeError("Version mismatch: The cluster was started with:"), "head:6379")
    assert told.endswith("The script needs the Ray and the Python of the nodes, to the last digit.")


def test_a_machine_that_is_no_node_is_told_apart_from_a_cluster_that_is_gone() -> None:
    error = ConnectionError("Failed to connect to Ray cluster")
    error.__cause__ = RuntimeError("No node info found matching attributes: ''")
    told = _advice(error, "head:6379")
    assert "this machine is not a node of it: first run here `ray start --address=head:6379`" in told


@pytest.mark.parametrize(
    ("name", "command", "is_starting"),
    [
        ("raylet", ["raylet", "--gcs-address=10.0.0.1:6379"], True),  # the head may have other names
        ("gcs_server", ["gcs_server", "--gcs_server_port=6379"], True),  # its node comes next
        ("raylet", ["raylet", "--gcs-address=10.0.0.1:6380"], False),
        ("python", ["python", "--gcs-address=10.0.0.1:6379"], False),
    ],
)
def test_a_node_that_is_not_registered_yet_may_be_waited_for(
    monkeypatch: pytest.MonkeyPatch, name: str, command: list[str], is_starting: bool
) -> None:
    process = SimpleNamespace(info={"name": name, "cmdline": command})
    monkeypatch.setattr(psutil, "process_iter", lambda attributes: [process])
    assert _is_starting("head:6379") is is_starting
