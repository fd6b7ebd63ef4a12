"""Authentication and frames of a gang's connections."""

from __future__ import annotations

import os
import socket

import pytest

from overtone.errors import GangError
from overtone.worker.gang import wire

NONCE, OTHER = b"h" * wire.NONCE_BYTES, b"r" * wire.NONCE_BYTES
SAID = (3, 1, OTHER)


def test_both_sides_prove_that_they_have_the_token() -> None:
    asked = wire.challenge(NONCE)
    answer = wire.hello("secret", asked, *SAID)
    assert (len(asked), len(answer)) == (wire.CHALLENGE_BYTES, wire.HELLO_BYTES)
    assert wire.read_hello("secret", NONCE, answer) == SAID
    last = wire.welcome("secret", NONCE, SAID, True)
    assert len(last) == wire.WELCOME_BYTES
    wire.read_welcome("secret", asked, SAID, last)


def test_no_changed_byte_of_an_answer_passes() -> None:
    answer = wire.hello("secret", wire.challenge(NONCE), *SAID)
    for place in range(len(answer)):
        changed = bytearray(answer)
        changed[place] ^= 1
        assert wire.read_hello("secret", NONCE, bytes(changed)) is None


def test_an_answer_counts_for_one_challenge_and_one_token() -> None:
    answer = wire.hello("secret", wire.challenge(NONCE), *SAID)
    assert wire.read_hello("secret", OTHER, answer) is None
    assert wire.read_hello("other", NONCE, answer) is None


@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_head_without_the_token_is_refused(is_accepted: bool) -> None:
    asked = wire.challenge(NONCE)
    with pytest.raises(GangError, match="could not prove"):
        wire.read_welcome("secret", asked, SAID, wire.welcome("guess", NONCE, SAID, is_accepted))
    flipped = bytearray(wire.welcome("secret", NONCE, SAID, is_accepted))
    flipped[0] ^= 1
    with pytest.raises(GangError, match="could not prove"):
        wire.read_welcome("secret", asked, SAID, bytes(flipped))


def test_a_refusal_names_rank_and_generation() -> None:
    with pytest.raises(GangError, match="no place for rank 1 of generation 3"):
        wire.read_welcome("secret", wire.challenge(NONCE), SAID, wire.welcome("secret", NONCE, SAID, False))


def test_what_is_not_a_head_gets_no_answer() -> None:
    with pytest.raises(GangError, match="no head of a gang"):
        wire.hello("secret", b"HTTP/1.1 400 Bad Request".ljust(wire.CHALLENGE_BYTES), *SAID)


def test_a_frame_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 100)
    with pytest.raises(GangError, match="at most 100 travel"):
        wire.frame(("returned", bytes(200)))


def test_a_fork_has_no_connection() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire.close_in_forks(ours)
        pid = os.fork()
        if pid == 0:
            os._exit(0 if ours.fileno() == -1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        ours.send(b"x")
        assert theirs.recv(1) == b"x"
