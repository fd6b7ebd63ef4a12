"""Connections between the head of a gang and its ranks: authentication, frames, and forks.

A connection begins with three messages of fixed sizes, before anything is unpickled:

    head to rank    a challenge: a nonce
    rank to head    its generation, its rank, a nonce, and an HMAC over all of them
    head to rank    whether it is accepted, and an HMAC over both nonces

Both HMACs have the gang's token as their key, so each side knows that the other has it. Then frames follow
(see `worker/frames.py`), each the pickle of a tuple. A connection is not encrypted.
"""

from __future__ import annotations

import hmac
import os
import pickle
import socket
import struct
import weakref
from typing import Any

from overtone.errors import GangError
from overtone.worker.frames import FrameReader, framed

CHUNK_BYTES = 1 << 20
"""Bytes that are read at once, and bytes of a file in one frame."""

MOST_BYTES = (1 << 32) - 1
"""Largest frame, in bytes."""

HANDSHAKE_S = 10.0
"""Time for a handshake, in seconds; a connection that takes longer is closed."""

LOST_S = 60.0
"""Time after which a rank's connection counts as lost if its host does not acknowledge, in seconds."""

NONCE_BYTES = 32

_MAGIC = b"overtone gang 1\n"
_CHALLENGE = struct.Struct(f"<{len(_MAGIC)}s{NONCE_BYTES}s")
_HELLO = struct.Struct(f"<{len(_MAGIC)}sII{NONCE_BYTES}s32s")
_WELCOME = struct.Struct("<?32s")

CHALLENGE_BYTES, HELLO_BYTES, WELCOME_BYTES = _CHALLENGE.size, _HELLO.size, _WELCOME.size


def challenge(nonce: bytes) -> bytes:
    """Return the head's first message."""
    return _CHALLENGE.pack(_MAGIC, nonce)


def hello(token: str, challenge_data: bytes, generation: int, rank: int, nonce: bytes) -> bytes:
    """Return the rank's answer to the head's challenge.

    Raises:
        GangError: The challenge is not one of a head.
    """
    magic, head_nonce = _CHALLENGE.unpack(challenge_data)
    if magic != _MAGIC:
        raise GangError(f"no head of a gang: it began with {challenge_data[:20]!r}")
    return _HELLO.pack(
        _MAGIC, generation, rank, nonce, _mac(token, "rank", head_nonce, generation, rank, nonce)
    )


def read_hello(token: str, head_nonce: bytes, data: bytes) -> tuple[int, int, bytes] | None:
    """Return (generation, rank, nonce) of a rank's answer; None if its sender does not have the token."""
    magic, generation, rank, nonce, mac = _HELLO.unpack(data)
    wanted = _mac(token, "rank", head_nonce, generation, rank, nonce)
    if magic != _MAGIC or not hmac.compare_digest(mac, wanted):
        return None
    return generation, rank, nonce


def welcome(token: str, head_nonce: bytes, identity: tuple[int, int, bytes], is_accepted: bool) -> bytes:
    """Return the head's last message of a handshake.

    Args:
        identity: The generation, the rank and the nonce of the rank's answer.
    """
    return _WELCOME.pack(is_accepted, _mac(token, f"head {is_accepted}", head_nonce, *identity))


def read_welcome(token: str, challenge_data: bytes, identity: tuple[int, int, bytes], data: bytes) -> None:
    """Check the head's last message, `data`.

    Args:
        identity: The generation, the rank and the nonce of the rank's answer.

    Raises:
        GangError: The head refuses this rank, or does not have the token.
    """
    is_accepted, mac = _WELCOME.unpack(data)
    head_nonce = _CHALLENGE.unpack(challenge_data)[1]
    if not hmac.compare_digest(mac, _mac(token, f"head {is_accepted}", head_nonce, *identity)):
        raise GangError("the head of the gang could not prove that it is the head")
    if not is_accepted:
        raise GangError(f"the head has no place for rank {identity[1]} of generation {identity[0]}")


def _mac(token: str, sender: str, head_nonce: bytes, generation: int, rank: int, nonce: bytes) -> bytes:
    text = b"%s %d %d " % (sender.encode(), generation, rank)
    return hmac.digest(token.encode(), text + head_nonce + nonce, "sha256")


def frame(message: tuple[Any, ...]) -> bytes:
    """Return a message of plain data, or of pickles as bytes, as a frame.

    Raises:
        GangError: The message is longer than `MOST_BYTES`.
    """
    body = pickle.dumps(message, protocol=5)
    if len(body) > MOST_BYTES:
        raise GangError(
            f"{len(body):,} bytes for one message: at most {MOST_BYTES:,} travel between head and rank at "
            "once; hand larger data on in files, such as a checkpoint's"
        )
    return framed(body)


def frame_reader() -> FrameReader[tuple[Any, ...]]:
    """Return a reader of an authenticated sender's messages."""
    return FrameReader(pickle.loads, MOST_BYTES)


def tune_socket(sock: socket.socket, is_head: bool) -> None:
    """Send small messages at once, and notice that the other host is gone.

    The head notices within about `LOST_S`. A rank must not count a head as lost that does not read for long,
    such as while its trial is paused; the engine ends ranks without a head.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", LOST_S / 2),
        ("TCP_KEEPINTVL", LOST_S / 10),
        ("TCP_KEEPCNT", 5),
        ("TCP_USER_TIMEOUT", LOST_S * 1000 * is_head),
    ):
        if hasattr(socket, name):  # each system has its own
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), int(value))


# --- forks ------------------------------------------------------------------------------

_open: weakref.WeakSet[socket.socket] = weakref.WeakSet()
_is_fork_seen_to = False


def close_in_forks(sock: socket.socket) -> None:
    """Close `sock` in each fork of this process: a fork must neither use it nor keep it open."""
    global _is_fork_seen_to
    _open.add(sock)
    if not _is_fork_seen_to:
        _is_fork_seen_to = True
        os.register_at_fork(after_in_child=_close_all)


def _close_all() -> None:
    for sock in list(_open):
        sock.close()
    _open.clear()
