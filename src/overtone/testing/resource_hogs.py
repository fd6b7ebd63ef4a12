"""Trainables that use more and more of something, each in its own way."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from overtone.worker.session.current import current

Config = dict[str, Any]

CHUNK_BYTES = 64 << 20

_HOG = f"held = []\nwhile True: held.append(bytearray(b'x' * {CHUNK_BYTES}))"


def spins() -> None:
    """Run an endless loop in Python."""
    while True:
        pass


def holds_the_gil() -> None:
    """Busy in one call of C code that lets no other thread and no signal handler run."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def sleeps() -> None:
    """Uses time alone."""
    while True:
        time.sleep(3600)


def hogs() -> None:
    """Takes memory as fast as it can."""
    held = []
    while True:
        held.append(bytearray(b"x" * CHUNK_BYTES))


def grows() -> None:
    """Grow one array without limit."""
    held = bytearray()
    while True:
        held += b"x" * CHUNK_BYTES


def child_spins() -> None:
    """Wait for a busy process in a separate session."""
    subprocess.run([sys.executable, "-c", "while True: pass"], start_new_session=True)


def child_hogs() -> None:
    """Wait for a process in a separate session that takes memory."""
    subprocess.run([sys.executable, "-c", _HOG], start_new_session=True)


def children_spin() -> None:
    """Starts one short process after the other, each of them busy."""
    while True:
        subprocess.run([sys.executable, "-c", "sum(range(10**6))"])


APPETITES: dict[str, Callable[[], None]] = {
    one.__name__: one
    for one in (spins, holds_the_gil, sleeps, hogs, grows, child_spins, child_hogs, children_spin)
}


def hungry(config: Config) -> None:
    """Report once, and then do `config["what"]`, one of `APPETITES`; "nothing" ends well."""
    current().report({"loss": 1.0})
    if config["what"] != "nothing":
        APPETITES[config["what"]]()
