from __future__ import annotations

import socket

import pytest

from overtone.errors import GangError
from overtone.train import reserved_ports
from overtone.train.reserved_ports import reserve_port


def one_candidate(monkeypatch, *numbers):
    monkeypatch.setattr(reserved_ports.random.SystemRandom, "sample", lambda self, among, n: list(numbers))


def two_free_ports():
    first, second = reserve_port(), reserve_port()
    first.release()
    second.release()
    return first.number, second.number


def test_a_reserved_port_is_free_for_a_library_and_below_the_ports_of_connections():
    port = reserve_port()
    with socket.socket() as listener:
        listener.bind(("", port.number))
    assert reserved_ports.LOWEST <= port.number < reserved_ports._first_of_the_kernel()
    port.release()


def test_a_port_is_reserved_once_and_can_be_chosen_again_when_released(monkeypatch):
    one, other = two_free_ports()
    one_candidate(monkeypatch, one, other)
    first, second = reserve_port(), reserve_port()
    assert (first.number, second.number) == (one, other)
    with pytest.raises(GangError, match="no free TCP port"):
        reserve_port()
    first.release()
    again = reserve_port()
    assert again.number == one
    again.release()
    second.release()


def test_a_port_that_another_program_listens_on_is_passed_over(monkeypatch):
    one, other = two_free_ports()
    one_candidate(monkeypatch, one, other)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", one))
        listener.listen()
        port = reserve_port()
    assert port.number == other
    port.release()


def test_without_the_kernels_range_any_port_from_the_lowest_serves(monkeypatch):
    monkeypatch.setattr(reserved_ports, "_first_of_the_kernel", lambda: 1024)
    port = reserve_port()
    assert reserved_ports.LOWEST <= port.number < 65_536
    port.release()
